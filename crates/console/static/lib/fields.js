// @ts-check
// The inputs of a form, one for each kind of field.
import { amount } from './format.js';
import { cx, html } from './html.js';
import { Drop, upload } from './drop.js';
import { HtmlField } from './html-field.js';
import { maybe, t } from './i18n.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { Picker } from './picker.js';
import { can } from './session.js';
import { attempt, Picture } from './ui.js';

/** @typedef {import('./form.js').FieldSpec} FieldSpec */

/** Kinds that the browser has an input for. @type {Record<string, string>} */
const INPUT = { phone: 'tel', email: 'email', date: 'date' };

/** @param {FieldSpec} field */
export const labelOf = (field) => field.label ?? maybe(`field.${field.name}`) ?? field.name;

/** A moment as the input shows it, in the browser's time zone. @param {string | null} value */
function localMoment(value) {
  if (!value) return '';
  const moment = new Date(value);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

/**
 * @param {{ id: string, field: FieldSpec, value: any, values: Record<string, any>, errors: string[], changed: boolean,
 *   onChange: (value: any) => void }} props
 */
export function Field({ id, field, value, values, errors, changed, onChange }) {
  const { kind } = field;
  const hint = field.hint && (maybe(field.hint) ?? field.hint);
  const label = labelOf(field);
  const note = [hint && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean).join(' ') || undefined;
  const common = {
    id, name: field.name, required: field.required, disabled: field.locked, 'aria-invalid': errors.length > 0 || undefined, 'aria-describedby': note,
  };
  const text = (/** @type {any} */ event) => onChange(event.target.value === '' ? null : event.target.value);
  const messages = html`${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${errors.length > 0 && html`<p class="field-error" id=${`${id}-error`}>${errors.join('. ')}</p>`}`;
  if (kind === 'check') {
    return html`<div class=${cx('field check-field', changed && 'changed')}><label class="check">
      <input type="checkbox" ...${common} required=${false} checked=${Boolean(value)} onChange=${(/** @type {any} */ e) => onChange(e.target.checked)} /> ${label}</label>${messages}</div>`;
  }
  return html`<div class=${cx('field', (field.wide || kind === 'area' || kind === 'html' || kind === 'picture') && 'wide', changed && 'changed')}>
    <label for=${id}>${label}${field.required && html`<span class="faint"> *</span>`}</label>
    ${kind === 'area' ? html`<textarea ...${common} rows="3" maxlength=${field.max} value=${value ?? ''} onInput=${text} />`
      : kind === 'html' ? html`<${HtmlField} common=${common} value=${value ?? ''} onInput=${text} rows=${field.rows} clean=${field.clean} />`
        : kind === 'choice' ? html`<${ChoiceField} common=${common} field=${field} value=${value} onChange=${onChange} />`
          : kind === 'picture' ? html`<${PictureField} common=${common} label=${label} value=${value} onInput=${text} onChange=${onChange} />`
          : kind === 'tags' ? html`<${TagsField} common=${common} field=${field} value=${value ?? []} onChange=${onChange} />`
            : kind === 'many' ? html`<${ManyField} common=${common} field=${field} label=${label} value=${value} onChange=${onChange} />`
            : kind === 'picker' ? html`<${Picker} id=${id} label=${label} find=${field.find} shown=${value == null ? '' : field.shown?.(value, values) ?? String(value)}
                invalid=${errors.length > 0} describedby=${note} disabled=${field.locked} onChange=${(/** @type {any} */ choice) => onChange(choice?.value ?? null)} />`
              : kind === 'number' ? html`<input type="number" inputmode="numeric" step="1" min=${field.min ?? 0} ...${common} value=${value ?? ''}
                  onInput=${(/** @type {any} */ e) => onChange(e.target.value === '' ? null : Number(e.target.value))} />`
                : kind === 'money' ? html`<input type="text" inputmode="decimal" ...${common} value=${value ?? ''} onInput=${text}
                    onChange=${(/** @type {any} */ e) => onChange(e.target.value === '' ? null : amount(e.target.value))} />`
                  : kind === 'datetime' ? html`<input type="datetime-local" ...${common} value=${localMoment(value)}
                      onChange=${(/** @type {any} */ e) => onChange(e.target.value ? new Date(e.target.value).toISOString() : null)} />`
                    : html`<input type=${INPUT[kind] ?? 'text'} maxlength=${field.max} ...${common} value=${value ?? ''} onInput=${text} />`}
    ${messages}
  </div>`;
}

/** @param {{ common: Record<string, any>, field: FieldSpec, value: any, onChange: (value: any) => void }} props */
function ChoiceField({ common, field, value, onChange }) {
  const loaded = useLoad(async () => (field.options ? field.options() : []), [field.name]);
  const options = loaded.data ?? [];
  const missing = value != null && !options.some((option) => option.value === value);
  return html`<select ...${common} value=${value ?? ''} onChange=${(/** @type {any} */ e) => {
    const found = options.find((option) => String(option.value) === e.target.value);
    onChange(found ? found.value : null);
  }}>
    <option value="" selected=${value == null}>${t('form.none')}</option>
    ${missing && html`<option value=${String(value)} selected>№ ${value}</option>`}
    ${options.map((option) => html`<option key=${option.value} value=${String(option.value)} selected=${option.value === value}>${option.label}</option>`)}
  </select>`;
}

/** Several of a list, as check boxes in a box. @param {{ common: Record<string, any>, field: FieldSpec, value: number[], onChange: (value: any) => void }} props */
function TagsField({ common, field, value, onChange }) {
  const loaded = useLoad(async () => (field.options ? field.options() : []), [field.name]);
  return html`<div class="choices boxed" role="group" id=${common.id} tabindex="-1" aria-label=${labelOf(field)}>
    ${(loaded.data ?? []).map((option) => html`<label class="check" key=${option.value}><input type="checkbox" checked=${value.includes(Number(option.value))}
      onChange=${() => onChange(value.includes(Number(option.value)) ? value.filter((one) => one !== option.value) : [...value, Number(option.value)])} /> ${option.label}</label>`)}
    ${loaded.data?.length === 0 && html`<span class="note">${t('table.noOptions')}</span>`}
  </div>`;
}

/** Several records with their names, found one by one. @param {{ common: Record<string, any>, field: FieldSpec, label: string, value: { id: number, name: string }[], onChange: (value: any) => void }} props */
function ManyField({ common, field, label, value, onChange }) {
  const add = (/** @type {import('./picker.js').Choice | null} */ choice) => choice && !value.some(({ id }) => id === choice.value) && onChange([...value, { id: choice.value, name: choice.label }]);
  return html`<ul class="plain">${value.map((one) => html`<li key=${one.id} class="row"><span class="grow ellipsis">${one.name}</span>
      <button type="button" class="icon-button" aria-label=${`${t('delete')}: ${one.name}`} onClick=${() => onChange(value.filter(({ id }) => id !== one.id))}><${Icon} name="close" size=${16} /></button></li>`)}</ul>
    <${Picker} clears id=${common.id} label=${label} find=${field.find} invalid=${common['aria-invalid']} describedby=${common['aria-describedby']} disabled=${common.disabled} onChange=${add} />`;
}

/** The address of a picture, typed or uploaded. @param {{ common: Record<string, any>, label: string, value: string | null, onInput: (event: any) => void, onChange: (value: any) => void }} props */
function PictureField({ common, label, value, onInput, onChange }) {
  return html`<div class="row"><${Picture} url=${value} size=${64} /><input type="url" class="grow" maxlength="2048" ...${common} value=${value ?? ''} onInput=${onInput} /></div>
    ${can('create-files') && !common.disabled && html`<${Drop} single accept="image/*" label=${`${t('field.upload')}: ${label}`} onFiles=${(/** @type {File[]} */ [file]) => file && attempt(async () => onChange((await upload(file)).url))} />`}`;
}
