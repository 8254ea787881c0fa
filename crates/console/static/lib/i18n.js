// @ts-check
// Texts of the interface. A dictionary is a JSON file per language and section; values are texts or plural forms.
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
/** @type {Map<string, Promise<void>>} */
const loading = new Map();
/** @type {Dictionary} */
let texts = {};
let plurals = new Intl.PluralRules(language.get());

/** Loads the dictionary of a language and section once. Its address has the content hash, as that of this module. @param {string} key */
function load(key) {
  const begun = loading.get(key);
  if (begun) return begun;
  const work = fetch(new URL(`../i18n/${key}.json`, import.meta.url)).then(async (answer) => {
    if (!answer.ok) throw new Error(`${key}: HTTP ${answer.status}`);
    loaded.set(key, await answer.json());
  });
  loading.set(key, work);
  work.catch(() => loading.delete(key));
  return work;
}

/** Loads the dictionaries of these sections in the current language. @param {string[]} sections */
export async function loadTexts(sections) {
  await Promise.all(sections.map((section) => load(`${language.get()}/${section}`)));
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
  await Promise.all([...new Set(sections)].map((section) => load(`${next}/${section}`)));
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

// The page starts this module by itself, so the texts of the frame load beside the other scripts.
void load(`${language.get()}/shell`);
