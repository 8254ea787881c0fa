// @ts-check
// Lines of an order, their totals, and changes of lines with a preview by the service.
import { ApiError, post, put, remove } from '../lib/api.js';
import { Dialog, Menu, open } from '../lib/dialog.js';
import { amount, money, number } from '../lib/format.js';
import { html, useId, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad, useDebounced } from '../lib/load.js';
import { findItems, Picker } from '../lib/picker.js';
import { ANY } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { attempt, Badge, Card, reason } from '../lib/ui.js';
import { STATUS } from './order-moves.js';

/** @typedef {import('./order.js').Order} Order */
/** @typedef {Order['reservations'][number]} OrderLine */

/** @param {{ order: Order, etag: string | null, done: () => void }} props */
export function Lines({ order, etag, done }) {
  const open_ = ![STATUS.issued, STATUS.canceled].some((one) => one === order.status.id) && can('edit-orders');
  const unpaid = Number(order.captured_amount) === 0;
  const dialog = async (/** @type {any} */ content) => {
    if (await open((/** @type {(done: boolean) => void} */ close) => content(close))) done();
  };
  const add = () => dialog((/** @type {any} */ close) => html`<${AddDialog} order=${order} etag=${etag} close=${close} />`);
  const edit = (/** @type {OrderLine} */ line) => dialog((/** @type {any} */ close) => html`<${LineDialog} order=${order} line=${line} etag=${etag} close=${close} />`);
  const drop = async (/** @type {OrderLine} */ line) => {
    if (await attempt(() => remove('/api/orders/{id}/nomenclatures/{nomenclature}', { id: order.id, nomenclature: line.id }, etag ? { match: etag } : {}), t('saved'))) done();
  };
  /** @param {number | string} value */
  const discount = (value) => (Number(value) > 0 ? `−${money(value)}` : null);
  const sums = /** @type {[string, string | null][]} */ ([
    [t('order.goods'), money(order.original_price)],
    [t('order.discount'), discount(order.product_discount_amount)],
    [order.promo_code ? `${t('order.promo')} ${order.promo_code}` : t('order.promo'), discount(order.promo_discount_amount)],
    [t('order.deliveryPrice'), Number(order.delivery_price) > 0 ? money(order.delivery_price) : null],
  ]);
  return html`<${Card} title=${t('order.lines')} flush actions=${open_ && unpaid && html`<button type="button" class="button small" onClick=${add}><${Icon} name="plus" size=${14} />${t('order.addLine')}</button>`}>
    <div class="table-scroll"><table>
      <thead><tr><th scope="col">${t('field.nomenclature_id')}</th><th scope="col">${t('field.warehouse_id')}</th><th scope="col" class="right">${t('field.price')}</th>
        <th scope="col" class="right">${t('field.quantity')}</th><th scope="col" class="right">${t('field.amount')}</th>${open_ && html`<th scope="col"><span class="sr-only">${t('table.actions')}</span></th>`}</tr></thead>
      <tbody>${order.reservations.map((line) => html`<tr key=${line.id}>
        <td><${Link} to=${`/items/${line.nomenclature.id}`}>${line.nomenclature.name}<//><div class="faint">${line.nomenclature.article ?? ''}
          ${line.state !== 'held' && html` <${Badge}>${t(`order.line.${line.state}`)}<//>`}</div></td>
        <td>${line.warehouse?.name ?? '–'}</td><td class="right">${money(line.price)}</td>
        <td class="right">${number(line.quantity)}${line.refunded_quantity > 0 && html`<div class="faint">${t('order.returned', { n: line.refunded_quantity })}</div>`}</td>
        <td class="right">${money(line.total)}</td>
        ${open_ && html`<td class="act"><${Menu} label=${`${t('table.actions')}: ${line.nomenclature.name}`} items=${[
          { label: t('order.changeLine'), icon: 'edit', run: () => void edit(line) },
          unpaid && order.reservations.length > 1 ? { label: t('order.removeLine'), icon: 'trash', danger: true, run: () => void drop(line) } : null,
        ]} /></td>`}
      </tr>`)}</tbody>
    </table></div>
    <div class="card-body"><div class="sums">${sums.map(([label, value]) => value && html`<div key=${label}><span class="note">${label}</span><span>${value}</span></div>`)}
      <div class="strong"><span>${t('order.due')}</span><span>${money(order.amount_due)}</span></div></div></div>
  <//>`;
}

/** The preview of a change: the new sum, or the reason why it is refused. @param {{ keys: unknown[], ask: (signal: AbortSignal) => Promise<any> }} props */
export function Preview({ keys, ask }) {
  const debounced = useDebounced(JSON.stringify(keys), 250);
  const loaded = useLoad((signal) => ask(signal).then((answer) => ({ preview: answer?.preview ?? null, error: '' }), (error) => {
    if (error instanceof ApiError) return { preview: null, error: reason(error) };
    throw error;
  }), [debounced]);
  const preview = loaded.data?.preview;
  return html`<div class="card" role="status" aria-busy=${loaded.loading}><div class="card-body">
    ${loaded.data?.error ? html`<p class="field-error">${loaded.data.error}</p>` : preview ? html`<div class="sums">
      <div><span class="note">${t('order.due')}</span><b>${money(preview.amount_due)}</b></div>
      ${Number(preview.difference) !== 0 && html`<div><span class="note">${t('order.difference')}</span><span>${money(preview.difference)}</span></div>`}
      ${preview.refund && html`<div class="strong"><span>${t('order.refundSum')}</span><span>${money(preview.refund.amount)}</span></div>
        <div><span class="note">${t('order.refundLeft')}</span><span>${money(preview.refund.left)}</span></div>`}
      ${preview.discount_error && html`<p class="note">${preview.discount_error.message}</p>`}
    </div>` : html`<p class="note">${loaded.loading ? t('loading') : t('order.previewNone')}</p>`}
  </div></div>`;
}

/** @param {{ order: Order, etag: string | null, line: OrderLine, close: (done: boolean) => void }} props */
function LineDialog({ order, etag, line, close }) {
  const [quantity, setQuantity] = useState(String(line.quantity - line.refunded_quantity));
  const [price, setPrice] = useState(line.price);
  const id = useId('line');
  const path = { id: order.id, nomenclature: line.id };
  const paid = Number(order.captured_amount) > 0;
  const body = {
    quantity: Number(quantity), ...(amount(price) === line.price ? {} : { price: amount(price) }), ...(paid ? { restock: true, reason: t('order.changeLine') } : {}),
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (await attempt(() => put('/api/orders/{id}/nomenclatures/{nomenclature}', path, body, etag ? { match: etag } : {}), t('saved'))) close(true);
  };
  return html`<${Dialog} title=${line.nomenclature.name} onClose=${() => close(false)}>
    <form class="stack" onSubmit=${submit}>
      <div class="form-fields">
        <div class="field"><label for=${`${id}-q`}>${t('field.quantity')}</label><input id=${`${id}-q`} type="number" min="1" required autofocus value=${quantity} onInput=${(/** @type {any} */ e) => setQuantity(e.target.value)} /></div>
        <div class="field"><label for=${`${id}-p`}>${t('field.price')}</label><input id=${`${id}-p`} inputmode="decimal" required value=${price} onInput=${(/** @type {any} */ e) => setPrice(e.target.value)} /></div>
      </div>
      <${Preview} keys=${[body]} ask=${(/** @type {AbortSignal} */ signal) => (Number(quantity) > 0
        ? put('/api/orders/{id}/nomenclatures/{nomenclature}', { ...path, dry_run: 1 }, body, { signal, ...ANY }) : Promise.resolve(null))} />
      <div class="dialog-foot inline"><button type="button" class="button" onClick=${() => close(false)}>${t('cancel')}</button><button class="button primary">${t('save')}</button></div>
    </form>
  <//>`;
}

/** @param {{ order: Order, etag: string | null, close: (done: boolean) => void }} props */
function AddDialog({ order, etag, close }) {
  const [item, setItem] = useState(/** @type {import('../lib/picker.js').Choice | null} */ (null));
  const [quantity, setQuantity] = useState('1');
  const id = useId('add');
  const body = { nomenclature_id: item?.value, quantity: Number(quantity) };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (item && await attempt(() => post('/api/orders/{id}/nomenclatures', { id: order.id }, body, etag ? { match: etag } : {}), t('saved'))) close(true);
  };
  return html`<${Dialog} title=${t('order.addLine')} onClose=${() => close(false)}>
    <form class="stack" onSubmit=${submit}>
      <div class="field"><label for=${`${id}-item`}>${t('field.nomenclature_id')}</label>
        <${Picker} id=${`${id}-item`} label=${t('field.nomenclature_id')} find=${findItems} shown=${item?.label ?? ''} autofocus onChange=${setItem} /></div>
      <div class="field"><label for=${`${id}-q`}>${t('field.quantity')}</label><input id=${`${id}-q`} type="number" min="1" required value=${quantity} onInput=${(/** @type {any} */ e) => setQuantity(e.target.value)} /></div>
      <${Preview} keys=${[body]} ask=${(/** @type {AbortSignal} */ signal) => (item && Number(quantity) > 0
        ? post('/api/orders/{id}/nomenclatures', { id: order.id, dry_run: 1 }, body, { signal }) : Promise.resolve(null))} />
      <div class="dialog-foot inline"><button type="button" class="button" onClick=${() => close(false)}>${t('cancel')}</button><button class="button primary" disabled=${!item}>${t('add')}</button></div>
    </form>
  <//>`;
}
