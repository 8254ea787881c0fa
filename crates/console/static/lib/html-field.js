// @ts-check
// A field for HTML: marks of the text by buttons, and a preview without scripts.
import { cx, html, useMemo, useState } from './html.js';
import { t } from './i18n.js';
import { useLoad, useDebounced } from './load.js';
import { Loading } from './ui.js';

/** Marks by name, with the tags around the marked text. @type {[string, string[]][]} */
const MARKS = [['heading', ['h2']], ['paragraph', ['p']], ['bold', ['b']], ['italic', ['i']], ['list', ['ul', 'li']], ['quote', ['blockquote']], ['link', ['a href=""']]];

/** @param {HTMLTextAreaElement} area @param {string[]} tags */
function mark(area, tags) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const opening = tags.map((tag) => `<${tag}>`).join('');
  const closing = tags.map((tag) => `</${tag.split(' ')[0]}>`).reverse().join('');
  const inside = value.slice(start, end);
  if (area.maxLength >= 0 && value.length + opening.length + closing.length > area.maxLength) return;
  area.setRangeText(opening + inside + closing, start, end, 'end');
  // A link is typed between its quotation marks, other text within the marks.
  const hole = opening.indexOf('""');
  const caret = hole >= 0 ? start + hole + 1 : start + opening.length + inside.length;
  area.setSelectionRange(caret, caret);
  area.dispatchEvent(new Event('input', { bubbles: true }));
  area.focus();
}

/** @typedef {(markup: string, signal: AbortSignal) => Promise<string>} Clean */

/** HTML text with a preview. The preview has no scripts and an origin of its own. @param {{ common: Record<string, any>, value: string, onInput: (event: any) => void, rows?: number, clean?: Clean }} props */
export function HtmlField({ common, value, onInput, rows = 6, clean }) {
  const [shown, setShown] = useState(false);
  const run = (/** @type {string[]} */ tags) => {
    const area = document.getElementById(common.id);
    if (area instanceof HTMLTextAreaElement) mark(area, tags);
  };
  return html`<div class="html-field">
    <div class="row" role="group" aria-label=${t('html.marks')}>${MARKS.map(([name, tags]) => html`<button type="button" key=${name} class="button small" disabled=${common.disabled}
      onClick=${() => run(tags)}>${t(`html.${name}`)}</button>`)}</div>
    <div class=${cx('html-parts', clean && shown && 'beside')}><textarea ...${common} rows=${rows} class="code" value=${value} onInput=${onInput} />
      ${shown && (clean ? html`<${Cleaned} markup=${value} clean=${clean} />` : html`<${Preview} markup=${value} />`)}</div>
    <button type="button" class="link" aria-expanded=${shown} onClick=${() => setShown(!shown)}>${t(shown ? 'form.hidePreview' : 'form.preview')}</button>
  </div>`;
}

/** What customers get of the text, asked of the service when typing rests. @param {{ markup: string, clean: Clean }} props */
function Cleaned({ markup, clean }) {
  const debounced = useDebounced(markup, 400);
  const loaded = useLoad((signal) => clean(debounced, signal), [debounced]);
  return html`<div class="cleaned"><${Loading} of=${loaded} lines=${4}>${(/** @type {string} */ text) => html`<${Preview} markup=${text} />`}<//></div>`;
}

/** @param {{ markup: string }} props */
export function Preview({ markup }) {
  const address = useMemo(() => URL.createObjectURL(new Blob(
    ['<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><body>', markup], { type: 'text/html' },
  )), [markup]);
  return html`<iframe class="preview" title=${t('form.preview')} sandbox="" src=${address} onLoad=${() => URL.revokeObjectURL(address)} />`;
}
