// @ts-check
// Texts of the interface. A dictionary is a module per language and section; values are texts or plural forms.
import { recall, remember, store } from './html.js';

/** @typedef {{ one?: string, few?: string, many?: string, other: string }} Plural */
/** @typedef {Record<string, string | Plural>} Dictionary */

export const LANGUAGES = /** @type {const} */ (['ru', 'en']);

/** @returns {string} */
function preferred() {
  const chosen = /** @type {string} */ (recall('language', ''));
  if (LANGUAGES.some((known) => known === chosen)) return chosen;
  return navigator.languages.some((name) => name.toLowerCase().startsWith('ru')) ? 'ru' : 'en';
}

export const language = store(preferred());

/** @type {Map<string, Dictionary>} */
const loaded = new Map();
/** @type {Dictionary} */
let texts = {};
let plurals = new Intl.PluralRules(language.get());

/** Loads the dictionaries of these sections in the current language. @param {string[]} sections */
export async function loadTexts(sections) {
  const name = language.get();
  await Promise.all(sections.map(async (section) => {
    const key = `${name}/${section}`;
    if (loaded.has(key)) return;
    const module = await import(`../i18n/${name}/${section}.js`);
    loaded.set(key, module.default);
  }));
  rebuild();
}

function rebuild() {
  const name = language.get();
  texts = {};
  for (const [key, dictionary] of loaded) {
    if (key.startsWith(`${name}/`)) Object.assign(texts, dictionary);
  }
  plurals = new Intl.PluralRules(name);
  document.documentElement.lang = name;
}

/** Changes the language and loads what was loaded in the other one. @param {string} next */
export async function setLanguage(next) {
  const sections = [...loaded.keys()].map((key) => key.slice(key.indexOf('/') + 1));
  const before = language.get();
  language.get() !== next && remember('language', next);
  await Promise.all([...new Set(sections)].map(async (section) => {
    const key = `${next}/${section}`;
    if (!loaded.has(key)) loaded.set(key, (await import(`../i18n/${next}/${section}.js`)).default);
  }));
  if (before !== next) language.set(next);
  rebuild();
  language.set(next);
}

/**
 * Returns a text. `{name}` is replaced by the parameter; the plural form follows the parameter `n`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return maybe(key, values) ?? key;
}

/**
 * Returns a text, or `null` if the dictionaries have none.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function maybe(key, values = {}) {
  const found = texts[key];
  if (found === undefined) return null;
  const form = typeof found === 'string' ? found : found[forms(Number(values.n))] ?? found.other;
  return form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** @param {number} n @returns {'one' | 'few' | 'many' | 'other'} */
function forms(n) {
  const form = plurals.select(Number.isFinite(n) ? n : 0);
  return form === 'one' || form === 'few' || form === 'many' ? form : 'other';
}
