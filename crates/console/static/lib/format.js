// @ts-check
// Money, dates and phone numbers as people read them, in the language of the interface and the project's currency and zone.
import { language } from './i18n.js';

const project = { currency: 'RUB', zone: /** @type {string | undefined} */ (undefined), name: 'Kontor' };

/** Takes currency, time zone and name from the project's settings. @param {{ name: string, value: string }[]} settings */
export function setProject(settings) {
  for (const { name, value } of settings) {
    if (name === 'currency') project.currency = value;
    if (name === 'time_zone') project.zone = value;
    if (name === 'project_name') project.name = value;
  }
  cache.clear();
}

export const projectName = () => project.name;
export const currency = () => project.currency;

/** @type {Map<string, Intl.NumberFormat | Intl.DateTimeFormat>} */
const cache = new Map();

/** @template {Intl.NumberFormat | Intl.DateTimeFormat} F @param {string} name @param {(locale: string) => F} make @returns {F} */
function format(name, make) {
  const key = `${language.get()}:${name}`;
  let found = cache.get(key);
  if (!found) cache.set(key, (found = make(language.get() === 'en' ? 'en-GB' : 'ru-RU')));
  return /** @type {F} */ (found);
}

/** @param {string | number | null | undefined} value */
export function money(value) {
  if (value === null || value === undefined || value === '') return '–';
  return format('money', (locale) => new Intl.NumberFormat(locale, {
    style: 'currency', currency: project.currency, currencyDisplay: 'narrowSymbol',
  }))
    .format(Number(value));
}

/** @param {number | null | undefined} value */
export function number(value) {
  return value === null || value === undefined ? '–' : format('number', (l) => new Intl.NumberFormat(l)).format(value);
}

/** Returns a number in few characters, as axes show it: `12K`. @param {number} value */
export const compact = (value) => format('compact', (l) => new Intl.NumberFormat(l, { notation: 'compact', maximumFractionDigits: 1 })).format(value);

/** Returns day and month of a date without a time. @param {string} value */
export const day = (value) => format('day', (l) => new Intl.DateTimeFormat(l, { day: 'numeric', month: 'short', timeZone: 'UTC' })).format(new Date(value));

/** Returns the date some days before today in the project's time zone, as the API takes it. @param {number} [before] */
export function dayBefore(before = 0) {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: project.zone }).format(new Date());
  return new Date(Date.parse(today) - before * 86400000).toISOString().slice(0, 10);
}

/** @param {string | null | undefined} value */
export function dateTime(value) {
  return value ? format('dateTime', (l) => new Intl.DateTimeFormat(l, {
    day: '2-digit', month: '2-digit', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone: project.zone,
  })).format(new Date(value)) : '–';
}

/** @param {string | null | undefined} value */
export function date(value) {
  return value ? format('date', (l) => new Intl.DateTimeFormat(l, {
    day: '2-digit', month: '2-digit', year: 'numeric', timeZone: value.length === 10 ? 'UTC' : project.zone,
  })).format(new Date(value)) : '–';
}

/** Returns a moment relative to now: "5 minutes ago". @param {string | null | undefined} value */
export function ago(value) {
  if (!value) return '–';
  const seconds = (new Date(value).getTime() - Date.now()) / 1000;
  const relative = new Intl.RelativeTimeFormat(language.get(), { numeric: 'auto' });
  const steps = /** @type {const} */ ([['day', 86400], ['hour', 3600], ['minute', 60]]);
  if (Math.abs(seconds) > 30 * 86400) return date(value);
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return relative.format(0, 'minute');
}

/** Returns a phone number in groups: `+7 900 123-45-67`. @param {string | null | undefined} value */
export function phone(value) {
  if (!value) return '–';
  const digits = value.replace(/\D/g, '');
  const parts = /^7(\d{3})(\d{3})(\d{2})(\d{2})$/.exec(digits);
  return parts ? `+7 ${parts[1]} ${parts[2]}-${parts[3]}-${parts[4]}` : digits ? `+${digits}` : value;
}

/** Returns the size of a file. @param {number | null | undefined} bytes */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return '–';
  const power = bytes < 1024 ? 0 : bytes < 1048576 ? 1 : 2;
  const units = /** @type {const} */ (['byte', 'kilobyte', 'megabyte']);
  return format(`size${power}`, (l) => new Intl.NumberFormat(l, {
    style: 'unit', unit: units[power] ?? 'byte', maximumFractionDigits: 1,
  })).format(bytes / 1024 ** power);
}

/** Returns an amount as the API takes it, from what people type: `1 234,5` is `1234.50`. @param {string} text */
export function amount(text) {
  const plain = text.replace(/[\s\u00a0\u202f]/g, '').replace(',', '.');
  return /^\d+(\.\d{1,2})?$/.test(plain) ? Number(plain).toFixed(2) : plain;
}
