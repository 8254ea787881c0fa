// @ts-check
// Combobox that searches the service while typing (ARIA pattern: editable combobox with a list).
import { get, post } from './api.js';
import { phone } from './format.js';
import { cx, html, useEffect, useId, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { useLoad, useDebounced } from './load.js';

/** @typedef {{ value: number, label: string, note?: string, record?: any }} Choice */

/** Finds items by name or article. @param {string} query @param {AbortSignal} signal @returns {Promise<Choice[]>} */
export async function findItems(query, signal) {
  if (!query) return [];
  const { nomenclatures } = await post('/api/search_nomenclature', {}, { query, limit: 8 }, { signal });
  return nomenclatures.map((item) => ({ value: item.id, label: item.name, note: item.article ?? '', record: item }));
}

/** Finds customers by name, phone or number. @param {string} query @param {AbortSignal} signal @returns {Promise<Choice[]>} */
export async function findCustomers(query, signal) {
  const { counterparties } = await get('/api/counterparties', { query, per_page: 8 }, { signal });
  return counterparties.map((customer) => ({ value: customer.id, label: customerName(customer), note: customer.phone_1 ? phone(customer.phone_1) : customer.email ?? '', record: customer }));
}

/** @param {{ id: number, name?: string | null, first_name?: string | null, last_name?: string | null, phone_1?: string | null }} customer */
export function customerName(customer) {
  return customer.name || [customer.last_name, customer.first_name].filter(Boolean).join(' ')
    || (customer.phone_1 ? phone(customer.phone_1) : `№ ${customer.id}`);
}

/**
 * @param {object} props
 * @param {string} props.id
 * @param {string} props.label
 * @param {(query: string, signal: AbortSignal) => Promise<Choice[]>} props.find
 * @param {(choice: Choice | null) => void} props.onChange
 * @param {string} [props.shown] the text of the chosen record
 * @param {boolean} [props.clears] empties the field after a choice, to choose another
 * @param {boolean} [props.invalid]
 * @param {string} [props.describedby]
 * @param {boolean} [props.autofocus]
 * @param {boolean} [props.disabled]
 */
export function Picker({ id, label, find, onChange, shown = '', clears, invalid, describedby, autofocus, disabled }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [at, setAt] = useState(0);
  const listId = useId('list');
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const query = useDebounced(text?.trim() ?? '', 150);
  const open = text !== null;
  const found = useLoad(async (signal) => ({ query, choices: open ? await find(query, signal) : [] }), [query, open]);
  const choices = open && found.data?.query === text.trim() ? found.data.choices : [];
  const current = choices[Math.min(at, choices.length - 1)];
  useEffect(() => setAt(0), [query]);
  useEffect(() => {
    if (autofocus) host.current?.querySelector('input')?.focus();
  }, []);
  const choose = (/** @type {Choice} */ choice) => {
    setText(clears ? '' : null);
    if (clears) setTimeout(() => setText(null), 0);
    onChange(choice);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !open) setText('');
    else if (step && choices.length) setAt((Math.min(at, choices.length - 1) + step + choices.length) % choices.length);
    else if (event.key === 'Enter' && open) {
      if (current) choose(current);
      else if (!text) return;
    } else if (event.key === 'Escape' && open) setText(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="picker" ref=${host}>
    <input id=${id} type="text" role="combobox" autocomplete="off" spellcheck=${false} aria-label=${label} aria-expanded=${open} aria-controls=${listId}
      aria-autocomplete="list" aria-activedescendant=${current ? `${listId}-${current.value}` : undefined} aria-invalid=${invalid || undefined}
      aria-describedby=${describedby} autofocus=${autofocus} disabled=${disabled} placeholder=${t('picker.placeholder')}
      value=${text ?? (clears ? '' : shown)} onInput=${(/** @type {any} */ e) => setText(e.target.value)} onKeyDown=${keys} onBlur=${() => setText(null)} />
    ${shown && !clears && !open && !disabled && html`<button type="button" class="icon-button picker-clear" aria-label=${t('picker.clear')} onClick=${() => onChange(null)}>×</button>`}
    <div id=${listId} role="listbox" aria-label=${label} class="picker-list" hidden=${!open}>
      ${choices.map((choice, index) => html`<div key=${choice.value} id=${`${listId}-${choice.value}`} role="option" aria-selected=${choice === current}
        class=${cx('picker-choice', choice === current && 'current')} onMouseDown=${(/** @type {Event} */ e) => { e.preventDefault(); choose(choice); }}
        onMouseMove=${() => setAt(index)}><span class="ellipsis">${choice.label}</span><span class="faint">${choice.note}</span></div>`)}
      ${open && choices.length === 0 && html`<div class="picker-none" role="presentation">${found.loading || found.data?.query !== text.trim() ? t('loading') : text.trim() ? t('picker.none') : t('picker.type')}</div>`}
    </div>
  </div>`;
}
