// @ts-check
// Two people changed one record: what only one of them changed is kept; where both did, the person chooses.
import { Dialog, open } from './dialog.js';
import { labelOf } from './fields.js';
import { same } from './form.js';
import { html, useId, useState } from './html.js';
import { t } from './i18n.js';

/** @typedef {import('./form.js').FieldSpec} FieldSpec */
/** @typedef {Record<string, any>} Values */

/** @param {any} value */
const inWords = (value) => (value === null || value === undefined || value === '' ? '–'
  : typeof value === 'boolean' ? t(value ? 'yes' : 'no') : Array.isArray(value) ? value.map((one) => one?.name ?? one).join(', ') || '–' : typeof value === 'object' ? JSON.stringify(value) : String(value));

/**
 * Returns the merged values, or `null` if the person went back to the form.
 * @param {{ fields: FieldSpec[], base: Values, mine: Values, theirs: Values, author: string | null }} conflict
 * @returns {Promise<Values | null>}
 */
export function merge({ fields, base, mine, theirs, author }) {
  /** @type {Values} */
  const merged = {};
  /** @type {FieldSpec[]} */
  const both = [];
  /** @type {FieldSpec[]} */
  const taken = [];
  for (const field of fields) {
    const { name } = field;
    const iChanged = !same(mine[name], base[name]);
    const theyChanged = !same(theirs[name], base[name]);
    merged[name] = iChanged ? mine[name] : theirs[name];
    if (iChanged && theyChanged && !same(mine[name], theirs[name])) both.push(field);
    else if (theyChanged && !iChanged) taken.push(field);
  }
  if (both.length === 0 && taken.length === 0) return Promise.resolve(merged);
  return open((close) => html`<${MergeDialog} both=${both} taken=${taken} merged=${merged} mine=${mine} theirs=${theirs} base=${base} author=${author} close=${close} />`);
}

/**
 * @param {{ both: FieldSpec[], taken: FieldSpec[], merged: Values, base: Values, mine: Values, theirs: Values, author: string | null,
 *   close: (values: Values | null) => void }} props
 */
function MergeDialog({ both, taken, merged, base, mine, theirs, author, close }) {
  const [chosen, setChosen] = useState(/** @type {Record<string, 'mine' | 'theirs'>} */ ({}));
  const id = useId('merge');
  const open = both.filter(({ name }) => !chosen[name]);
  const finish = () => close({ ...merged, ...Object.fromEntries(both.map(({ name }) => [name, chosen[name] === 'theirs' ? theirs[name] : mine[name]])) });
  return html`<${Dialog} title=${t('merge.title')} wide onClose=${() => close(null)} actions=${html`
    <button type="button" class="button" onClick=${() => close(null)}>${t('merge.back')}</button>
    <button type="button" class="button primary" disabled=${open.length > 0} onClick=${finish}>${t('merge.save')}</button>`}>
    <p>${author ? t('merge.by', { name: author }) : t('merge.text')}</p>
    ${both.map((field) => html`<fieldset class="merge" key=${field.name}>
      <legend>${labelOf(field)}</legend>
      <p class="note">${t('merge.before')}: ${inWords(base[field.name])}</p>
      ${/** @type {const} */ (['mine', 'theirs']).map((side) => html`<label class="merge-choice" key=${side}>
        <input type="radio" name=${`${id}-${field.name}`} checked=${chosen[field.name] === side} onChange=${() => setChosen({ ...chosen, [field.name]: side })} />
        <span><b>${t(`merge.${side}`)}</b><span class="merge-value">${inWords(side === 'mine' ? mine[field.name] : theirs[field.name])}</span></span>
      </label>`)}
    </fieldset>`)}
    ${taken.length > 0 && html`<h3>${t('merge.others')}</h3><ul class="plain">${taken.map((field) => html`<li key=${field.name}>${labelOf(field)}:
      <s>${inWords(base[field.name])}</s> → <b>${inWords(theirs[field.name])}</b></li>`)}</ul>`}
  <//>`;
}
