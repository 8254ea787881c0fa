// @ts-check
// An order that an employee creates. The service calculates it while it is put together.
import { ApiError, get, post } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { money } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { html, useEffect, useId, useRef, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad, useDebounced } from '../lib/load.js';
import { customerName, findCustomers, findItems, Picker } from '../lib/picker.js';
import { guard, navigate, place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { Card, Page, reason } from '../lib/ui.js';

/** @typedef {{ id: number, name: string, article: string, quantity: number }} Line */

const EMPTY = { counterparty_id: null, application_id: null, delivery_type_id: null, shop_id: null, address: null, promo_code: null, comment: null };
/** Delivery types: pickup needs a shop, delivery an address. */
const PICKUP = 1;
const DELIVERY = 2;

export default function OrderNew() {
  const [lines, setLines] = useState(/** @type {Line[]} */ ([]));
  const [values, setValues] = useState(/** @type {Record<string, any>} */ (EMPTY));
  const customer = Number(place.get().query.get('customer')) || null;
  const first = useLoad(async (signal) => (customer && can('view-counterparties')
    ? (await get('/api/counterparties/{id}', { id: customer }, { signal })).counterparty : null), [customer]);
  const names = useRef(/** @type {Map<number, string>} */ (new Map()));
  const id = useId('order');
  const dirty = useRef(false);
  dirty.current = lines.length > 0;
  useEffect(() => guard(() => dirty.current), []);
  if (first.data) names.current.set(first.data.id, customerName(first.data));
  /** @type {import('../lib/form.js').FieldSpec[]} */
  const fields = [
    { name: 'counterparty_id', kind: 'picker', required: true, wide: true, shown: (value) => names.current.get(value) ?? `№ ${value}`,
      find: async (query, signal) => {
        const found = await findCustomers(query, signal);
        for (const choice of found) names.current.set(choice.value, choice.label);
        return found;
      } },
    { name: 'application_id', label: t('column.application'), kind: 'choice', options: options.applications, when: () => can('view-applications') },
    { name: 'delivery_type_id', label: t('order.delivery'), kind: 'choice', required: true, options: options.deliveryTypes },
    { name: 'shop_id', label: t('order.shop'), kind: 'choice', required: true, options: options.shops, when: (now) => now.delivery_type_id === PICKUP },
    { name: 'address', kind: 'text', required: true, max: 500, wide: true, when: (now) => now.delivery_type_id === DELIVERY },
    { name: 'promo_code', label: t('order.promo'), kind: 'text', max: 64 },
    { name: 'comment', kind: 'area' },
  ];
  const add = (/** @type {import('../lib/picker.js').Choice | null} */ choice) => {
    if (!choice) return;
    setLines((/** @type {Line[]} */ before) => (before.some((line) => line.id === choice.value)
      ? before.map((line) => (line.id === choice.value ? { ...line, quantity: line.quantity + 1 } : line))
      : [...before, { id: choice.value, name: choice.label, article: choice.note ?? '', quantity: 1 }]));
  };
  const products = lines.map((line) => ({ id: line.id, quantity: line.quantity }));
  const save = async (/** @type {Record<string, any>} */ changes) => {
    const filled = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null && value !== ''));
    const { order } = await post('/api/orders', {}, { ...filled, products });
    dirty.current = false;
    toast(t('order.createdNo', { id: order.id }));
    await navigate(`/orders/${order.id}`, { force: true, replace: true });
  };
  const record = useRef({ ...EMPTY, counterparty_id: customer }).current;
  return html`<${Page} title=${t('nav.orderNew')} crumbs=${[{ label: t('nav.orders'), to: '/orders' }]} />
    <div class="columns">
      <div>
        <${Card} title=${t('order.lines')}>
          <div class="field"><label for=${`${id}-item`}>${t('order.addLine')}</label>
            <${Picker} id=${`${id}-item`} label=${t('order.addLine')} find=${findItems} clears autofocus onChange=${add} /></div>
          ${lines.length > 0 ? html`<ul class="plain">${lines.map((line) => html`<li key=${line.id} class="row">
            <span class="grow">${line.name} <span class="faint">${line.article}</span></span>
            <input class="grid-cell" type="number" min="1" required aria-label=${`${t('field.quantity')}: ${line.name}`} value=${String(line.quantity)}
              onInput=${(/** @type {any} */ e) => setLines(lines.map((one) => (one.id === line.id ? { ...one, quantity: Math.max(1, Number(e.target.value) || 1) } : one)))} />
            <button type="button" class="icon-button" aria-label=${`${t('order.removeLine')}: ${line.name}`} onClick=${() => setLines(lines.filter((one) => one.id !== line.id))}><${Icon} name="close" size=${16} /></button>
          </li>`)}</ul>` : html`<p class="note">${t('order.linesNone')}</p>`}
        <//>
        <${Card} title=${t('order.details')}><${RecordForm} fields=${fields} record=${record} save=${save} onValues=${setValues} submit=${t('do.orderNew')} cancel=${() => navigate('/orders')} /><//>
      </div>
      <div><${Totals} products=${products} values=${values} /></div>
    </div>`;
}

/** The calculation of the service, a moment after each change. @param {{ products: { id: number, quantity: number }[], values: Record<string, any> }} props */
function Totals({ products, values }) {
  const body = JSON.stringify({
    products, ...Object.fromEntries(['application_id', 'counterparty_id', 'delivery_type_id', 'promo_code'].filter((name) => values[name]).map((name) => [name, values[name]])),
  });
  const debounced = useDebounced(body, 250);
  const loaded = useLoad(async (signal) => {
    const asked = JSON.parse(debounced);
    if (asked.products.length === 0) return { sums: null, error: '' };
    try {
      return { sums: await post('/api/orders/calculator', {}, asked, { signal }), error: '' };
    } catch (error) {
      if (error instanceof ApiError) return { sums: null, error: reason(error) };
      throw error;
    }
  }, [debounced]);
  const sums = loaded.data?.sums;
  return html`<${Card} title=${t('order.calculation')}>
    <div role="status" aria-busy=${loaded.loading || debounced !== body}>
      ${loaded.data?.error && html`<p class="field-error">${loaded.data.error}</p>`}
      ${!sums && !loaded.data?.error && html`<p class="note">${t('order.linesNone')}</p>`}
      ${sums && html`<div class="sums">
        <div><span class="note">${t('order.goods')}</span><span>${money(sums.original_price)}</span></div>
        ${sums.total_discount_amount > 0 && html`<div><span class="note">${t('order.discount')}</span><span>−${money(sums.total_discount_amount)}</span></div>`}
        ${sums.delivery_price > 0 && html`<div><span class="note">${t('order.deliveryPrice')}</span><span>${money(sums.delivery_price)}</span></div>`}
        <div class="strong"><span>${t('order.due')}</span><span>${money(sums.amount_due)}</span></div>
        ${sums.applied_discount && html`<p class="note">${sums.applied_discount.name}</p>`}
        ${sums.discount_error && html`<p class="field-error">${sums.discount_error.message}</p>`}
      </div>`}
    </div>
  <//>`;
}
