// @ts-check
// The command palette: screens, actions, and search by order number, customer and item.
import { get, post } from './api.js';
import { Dialog } from './dialog.js';
import { money, phone } from './format.js';
import { cx, html, useEffect, useId, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { currentActions, keysLabel } from './keys.js';
import { useLoad, useDebounced } from './load.js';
import { navigate } from './router.js';
import { screens } from './sections.js';
import { can } from './session.js';

/** @typedef {{ id: string, group: string, label: string, note?: string, icon: string, keys?: string, run: () => void }} Entry */

/** @param {string} text */
const plain = (text) => text.toLowerCase().replaceAll('ё', 'е');

/**
 * Searches orders, customers and items, each only if the role may see them.
 * @param {string} query
 * @param {AbortSignal} signal
 * @returns {Promise<Entry[]>}
 */
async function search(query, signal) {
  const options = { signal };
  const [orders, customers, items] = await Promise.all([
    can('view-orders') ? get('/api/orders', { query, per_page: 5 }, options) : null,
    can('view-counterparties') ? get('/api/counterparties', { query, per_page: 5 }, options) : null,
    can('view-nomenclatures') ? post('/api/search_nomenclature', {}, { query, limit: 5 }, options) : null,
  ]);
  return [
    ...(orders?.orders ?? []).map((order) => ({
      id: `order-${order.id}`, group: 'nav.orders', icon: 'orders', label: t('palette.order', { id: order.id }),
      note: `${order.status.name} · ${order.counterparty.name || phone(order.counterparty.phone)} · ${money(order.amount_due)}`,
      run: () => navigate(`/orders/${order.id}`),
    })),
    ...(customers?.counterparties ?? []).map((customer) => ({
      id: `customer-${customer.id}`, group: 'nav.customers', icon: 'user',
      label: customer.name || [customer.last_name, customer.first_name].filter(Boolean).join(' ') || phone(customer.phone_1),
      note: [customer.phone_1 && phone(customer.phone_1), customer.email].filter(Boolean).join(' · '),
      run: () => navigate(`/customers/${customer.id}`),
    })),
    ...(items?.nomenclatures ?? []).map((item) => ({
      id: `item-${item.id}`, group: 'nav.items', icon: 'box', label: item.name, note: item.article ?? '',
      run: () => navigate(`/items/${item.id}`),
    })),
  ];
}

/** @returns {Entry[]} */
function commands() {
  const shown = currentActions().filter((action) => !action.hidden);
  return [
    ...shown.map((action) => ({
      id: `do-${action.id}`, group: 'palette.actions', label: action.label, icon: action.icon ?? 'chevron',
      ...(action.keys ? { keys: action.keys } : {}), run: action.run,
    })),
    ...screens.filter((screen) => !screen.path.includes(':') && can(screen.permission) && screen.path !== '/orders/print').map((screen) => ({
      id: `go-${screen.path}`, group: 'palette.screens', label: t(screen.title), icon: screen.icon ?? 'chevron',
      ...(screen.keys ? { keys: screen.keys } : {}), run: () => void navigate(screen.path),
    })),
  ];
}

/** @param {{ close: () => void }} props */
export function Palette({ close }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId('palette');
  const query = useDebounced(text.trim(), 120);
  const found = useLoad(async (signal) => ({ query, entries: query.length > 1 || /^\d+$/.test(query) ? await search(query, signal) : [] }), [query]);
  const words = plain(text).split(/\s+/).filter(Boolean);
  const matching = useRef(commands()).current.filter((entry) => words.every((word) => plain(entry.label).includes(word)));
  const records = found.data?.query === text.trim() ? found.data.entries : [];
  const entries = /^\d+$/.test(text.trim()) ? [...records, ...matching] : [...matching, ...records];
  const current = entries[Math.min(at, entries.length - 1)];
  const searching = Boolean(text.trim()) && (found.loading || query !== text.trim());
  useEffect(() => setAt(0), [text]);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [current?.id]);
  const run = (/** @type {Entry | undefined} */ entry) => {
    if (!entry) return;
    close();
    entry.run();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && entries.length) setAt((Math.min(at, entries.length - 1) + step + entries.length) % entries.length);
    else if (event.key === 'Enter') run(current);
    else return;
    event.preventDefault();
  };
  let group = '';
  return html`<${Dialog} title=${t('palette.open')} class="palette" bare onClose=${close}>
    <div class="palette-input">
      <${Icon} name="search" />
      <input type="text" role="combobox" aria-expanded="true" aria-controls=${id} aria-autocomplete="list" aria-label=${t('palette.open')}
        aria-activedescendant=${current ? `${id}-${current.id}` : undefined} placeholder=${t('palette.placeholder')} autocomplete="off"
        spellcheck=${false} autofocus value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} onKeyDown=${keys} />
      ${searching && html`<span class="spinner" />`}
    </div>
    <div id=${id} ref=${list} role="listbox" aria-label=${t('palette.open')} class="palette-list">
      ${entries.map((entry) => {
        const head = entry.group !== group;
        group = entry.group;
        return html`${head && html`<div class="palette-group" role="presentation" key=${`${entry.id}-head`}>${t(entry.group)}</div>`}
          <div key=${entry.id} id=${`${id}-${entry.id}`} role="option" aria-selected=${entry === current} class=${cx('palette-entry', entry === current && 'current')}
            onMouseMove=${() => setAt(entries.indexOf(entry))} onClick=${() => run(entry)}>
            <${Icon} name=${entry.icon} /><span class="ellipsis">${entry.label}</span>${entry.note && html`<span class="faint ellipsis">${entry.note}</span>`}
            ${entry.keys && html`<kbd>${keysLabel(entry.keys)}</kbd>`}
          </div>`;
      })}
    </div>
    <p class="sr-only" role="status">${searching ? t('palette.searching') : t('palette.found', { n: entries.length })}</p>
    ${entries.length === 0 && !searching && html`<p class="palette-none">${t('palette.none')}</p>`}
    ${found.error && html`<p class="palette-none">${t('error.title')}</p>`}
  <//>`;
}
