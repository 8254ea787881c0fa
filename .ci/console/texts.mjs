// Compares the dictionaries with each other and with the scripts, and the tables with the API description.
// Usage: node texts.mjs STATIC OPENAPI
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', description = ''] = process.argv.slice(2);
const problems = [];

const dictionaries = { en: {}, ru: {} };
for (const [language, all] of Object.entries(dictionaries)) {
  for (const file of readdirSync(join(root, 'i18n', language))) {
    const source = readFileSync(join(root, 'i18n', language, file), 'utf8');
    const texts = Object.entries(JSON.parse(source));
    // JSON keeps the last of two equal keys, so keys are counted by lines.
    if (texts.length !== [...source.matchAll(/^ {2}"/gm)].length) problems.push(`${language}/${file}: a key twice, or not one key a line`);
    for (const [key, text] of texts) {
      if (key in all) problems.push(`${language}/${file}: ${key} is in two dictionaries`);
      const forms = typeof text === 'string' ? { other: text } : text;
      if (!forms.other || Object.values(forms).some((form) => typeof form !== 'string')) problems.push(`${language}/${file}: ${key} is neither a text nor plural forms`);
      all[key] = { file, text };
    }
  }
}
const { en, ru } = dictionaries;
const gaps = (text) => (typeof text === 'string' ? [text] : Object.values(text)).map((form) => [...form.matchAll(/\{\w+\}/g)].map(String).sort().join())[0];
for (const key of new Set([...Object.keys(en), ...Object.keys(ru)])) {
  if (!en[key] || !ru[key] || en[key].file !== ru[key].file) problems.push(`${key}: not in both languages`);
  else if (typeof en[key].text !== typeof ru[key].text) problems.push(`${key}: a plural in one language only`);
  else if (gaps(en[key].text) !== gaps(ru[key].text)) problems.push(`${key}: other parameters`);
}

const scripts = ['app.js', ...['lib', 'screens'].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))];
const used = new Set();
for (const name of scripts) {
  const text = readFileSync(join(root, name), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  for (const [, key] of text.matchAll(/\b(?:t|maybe)\(\s*'([^']+)'/g)) {
    used.add(key);
    if (!en[key]) problems.push(`${name}: no text ${key}`);
  }
  for (const [, literal] of text.matchAll(/'([\w.]+)'/g)) if (en[literal]) used.add(literal);
  for (const [, start] of text.matchAll(/`([a-zA-Z.]+\.)\$\{/g)) for (const key of Object.keys(en)) if (key.startsWith(start)) used.add(key);
  // Text between tags of a template that is not a parameter.
  for (const [, words] of text.matchAll(/>([^<>$`{}=;()]*[A-Za-zА-Яа-яЁё]{3,}[^<>$`{}=;()]*)<\/?[a-z$]/g)) {
    if (!/^\s*(Ctrl K)?\s*$/.test(words)) problems.push(`${name}: text outside of the dictionaries: ${words.trim()}`);
  }
}
for (const key of Object.keys(en)) if (!used.has(key)) problems.push(`${key}: not used`);

const { paths } = JSON.parse(readFileSync(description, 'utf8'));
const source = readFileSync(join(root, 'lib/tables.js'), 'utf8');
const tables = source.slice(source.indexOf('export const tables'));
for (const [, path, body] of tables.matchAll(/path: '([^']+)'([\s\S]*?)\n {2}\},/g)) {
  const names = (paths[path]?.get?.parameters ?? []).map((parameter) => parameter.name.replace('[]', ''));
  if (!names.length) problems.push(`tables.js: ${path} is not in the description`);
  const sorts = paths[path]?.get?.parameters.find((parameter) => parameter.name === 'order_by')?.schema?.enum
    ?? [].concat(...(paths[path]?.get?.parameters.find((parameter) => parameter.name === 'order_by')?.schema?.oneOf ?? []).map((one) => one.enum ?? []));
  for (const [, list] of body.matchAll(/sorts: \[([^\]]*)\]/g)) {
    for (const [, column] of list.matchAll(/'(\w+)'/g)) if (!sorts.includes(`${column}_asc`)) problems.push(`tables.js: ${path} cannot be sorted by ${column}`);
  }
  for (const [, name, kind] of body.matchAll(/name: '(\w+)', kind: '(\w+)'/g)) {
    const wanted = kind === 'range' ? [`${name}_gt`, `${name}_lt`] : [name];
    for (const parameter of wanted) if (!names.includes(parameter)) problems.push(`tables.js: ${path} has no filter ${parameter}`);
  }
  if (/search: true/.test(body) !== names.includes('query')) problems.push(`tables.js: ${path}: search differs from the description`);
}

// A dry run of an operation without one would be the write itself.
const screen = readFileSync(join(root, 'screens/agent-action.js'), 'utf8');
const previews = [.../const PREVIEWS = \[([^\]]*)\]/.exec(screen)[1].matchAll(/'(\w+) ([^']+)'/g)];
if (!previews.length) problems.push('agent-action.js: the list of dry runs reads otherwise');
for (const [, method, path] of previews) {
  if (!paths[path]?.[method.toLowerCase()]?.parameters?.some((parameter) => parameter.name === 'dry_run')) problems.push(`agent-action.js: ${method} ${path} has no dry run`);
}

for (const problem of problems) console.error(problem);
if (problems.length) process.exit(1);
console.log(`${Object.keys(en).length} texts in two languages, ${scripts.length} scripts`);
