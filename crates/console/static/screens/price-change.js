// @ts-check
// Changes the prices of the selected rows by one rule, with a preview. Rows are written one by one; the change can be undone.
import { ApiError } from '../lib/api.js';
import { Dialog, open } from '../lib/dialog.js';
import { amount, money } from '../lib/format.js';
import { html, useId, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { idOf, textOf } from '../lib/table.js';
import { Run } from '../lib/table-bulk.js';

/** @typedef {import('../lib/table.js').Row} Row */
/** @typedef {(row: Row, price: string, match?: string) => Promise<unknown>} Write */

/** Rules by name: the new price in hundredths. @type {Record<string, (old: number, value: number) => number>} */
const RULES = {
  percent: (old, value) => Math.round(old * (1 + value / 100)),
  add: (old, value) => old + Math.round(value * 100),
  set: (_, value) => Math.round(value * 100),
};

/** @param {number} hundredths */
const text = (hundredths) => (Math.max(hundredths, 0) / 100).toFixed(2);

/** Asks for the rule and writes the prices. @param {Row[]} rows @param {Write} write */
export const changePrices = (rows, write) => open((/** @type {(done: null) => void} */ close) => html`<${PriceDialog} rows=${rows.filter((row) => textOf(row.price) !== null)} write=${write} close=${() => close(null)} />`);

/** @param {{ rows: Row[], write: Write, close: () => void }} props */
function PriceDialog({ rows, write, close }) {
  const [rule, setRule] = useState('percent');
  const [value, setValue] = useState('');
  const [running, setRunning] = useState(false);
  const id = useId('price');
  const sign = value.trim().startsWith('-') ? -1 : 1;
  const by = sign * Number(amount(value.trim().replace(/^[-+]/, '')));
  const valid = value.trim() !== '' && Number.isFinite(by) && rows.length > 0;
  const priceOf = (/** @type {Row} */ row) => text((RULES[rule] ?? RULES.set)?.(Math.round(Number(textOf(row.price)) * 100), by) ?? 0);
  const each = (/** @type {Row} */ row) => (Number(priceOf(row)) > 0 ? write(row, priceOf(row), `"${row.version}"`) : Promise.reject(new ApiError(422, null, null, null)));
  if (running) return html`<${Run} action=${{ label: t('price.change'), icon: 'money', each, undo: (/** @type {Row} */ row) => write(row, String(textOf(row.price))) }} rows=${rows} close=${close} />`;
  return html`<${Dialog} title=${t('price.change')} onClose=${close}>
    <form class="stack" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); setRunning(valid); }}>
      <div class="row" role="radiogroup" aria-label=${t('price.rule')}>${Object.keys(RULES).map((name) => html`<label class="check" key=${name}>
        <input type="radio" name=${id} checked=${rule === name} onChange=${() => setRule(name)} /> ${t(`price.rule.${name}`)}</label>`)}</div>
      <div class="field"><label for=${`${id}-by`}>${t(`price.value.${rule}`)}</label>
        <input id=${`${id}-by`} required inputmode="decimal" value=${value} onInput=${(/** @type {any} */ e) => setValue(e.target.value)} /></div>
      ${valid && html`<ul class="plain" aria-live="polite">${rows.slice(0, 5).map((row) => html`<li key=${idOf(row)}>${textOf(row.name ?? row.nomenclature)}: <s>${money(textOf(row.price))}</s> → <b>${money(priceOf(row))}</b></li>`)}</ul>`}
      ${rows.length === 0 && html`<p class="note">${t('price.none')}</p>`}
      <div class="dialog-foot inline"><button type="button" class="button" onClick=${close}>${t('cancel')}</button>
        <button class="button primary" disabled=${!valid}>${t('price.next')}</button></div>
    </form>
  <//>`;
}
