// @ts-check
// One order: lines, money, next step, files, tickets and what happened.
import { get, put, read } from '../lib/api.js';
import { Menu, open, toast } from '../lib/dialog.js';
import { dateTime, money, phone } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { History } from '../lib/history.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad } from '../lib/load.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { Badge, Card, Facts, Loading, Page } from '../lib/ui.js';
import { Files, Tickets } from './order-files.js';
import { Lines } from './order-lines.js';
import { moveLabel, moveOrder, movesOf, nextOf, PAYMENT, STATUS, StatusBadge } from './order-moves.js';
import { PaymentDialog, RefundDialog } from './order-money.js';

/** @typedef {import('../types/shapes').Answered<'/api/orders/{id}', 'get'>['order']} Order */

/** @param {{ params: { id: string } }} props */
export default function OrderScreen({ params }) {
  const id = Number(params.id);
  const loaded = useLoad((signal) => read('/api/orders/{id}', { id }, { signal }), [id]);
  return html`<${Loading} of=${loaded}>${(/** @type {any} */ { body, etag }) => html`<${OrderView} order=${body.order} etag=${etag} reload=${loaded.reload} />`}<//>`;
}

/** @param {{ order: Order, etag: string | null, reload: () => void }} props */
function OrderView({ order, etag, reload }) {
  const [round, setRound] = useState(0);
  const edits = can('edit-orders');
  const status = order.status.id;
  const arrived = Number(order.captured_amount) > 0;
  const moves = edits ? movesOf(status, arrived && Number(order.refunded_amount) < Number(order.captured_amount)) : [];
  const next = moves.includes(nextOf(status) ?? 0) ? nextOf(status) : undefined;
  const refresh = () => {
    reload();
    setRound((/** @type {number} */ n) => n + 1);
  };
  const go = (/** @type {number} */ to) => void moveOrder(order.id, to, etag ?? undefined, refresh);
  const refundable = edits && (Number(order.captured_amount) > Number(order.refunded_amount) + Number(order.refunding_amount) || (status === STATUS.issued && !arrived));
  const payable = edits && !arrived && ![STATUS.canceled, STATUS.unpaid, STATUS.paid].some((one) => one === status);
  const refund = async () => {
    if (await open((/** @type {(done: boolean) => void} */ close) => html`<${RefundDialog} order=${order} close=${close} />`)) refresh();
  };
  const pay = async () => {
    if (await open((/** @type {(done: boolean) => void} */ close) => html`<${PaymentDialog} order=${order} close=${close} />`)) refresh();
  };
  const print = () => void navigate(`/orders/print?id=${order.id}`);
  useActions([
    ...(next ? [{ id: 'next', label: moveLabel(next), icon: 'check', keys: 'n', run: () => go(next) }] : []),
    ...moves.filter((to) => to !== next).map((to) => ({ id: `move-${to}`, label: moveLabel(to), icon: 'chevron', ...(to === STATUS.issued ? { keys: 'i' } : {}), run: () => go(to) })),
    ...(payable ? [{ id: 'pay', label: t('order.recordPayment'), icon: 'money', keys: 'm', run: () => void pay() }] : []),
    ...(refundable ? [{ id: 'refund', label: t('order.refund'), icon: 'undo', keys: 'r', run: () => void refund() }] : []),
    { id: 'print', label: t('order.printSlip'), icon: 'print', keys: 'p', run: print },
  ]);
  const actions = html`
    <button type="button" class="button" onClick=${print}><${Icon} name="print" size=${16} />${t('order.printSlip')}</button>
    ${refundable && html`<button type="button" class="button" onClick=${refund}>${t('order.refund')}</button>`}
    ${payable && html`<button type="button" class="button" onClick=${pay}>${t('order.recordPayment')}</button>`}
    ${next && html`<button type="button" class="button primary" onClick=${() => go(next)}>${moveLabel(next)} <kbd>N</kbd></button>`}
    <${Menu} label=${t('order.moves')} items=${moves.filter((to) => to !== next).map((to) => ({ label: moveLabel(to), icon: 'chevron', danger: to === STATUS.canceled, run: () => go(to) }))} />`;
  const repeats = status === STATUS.paid && order.payment_state === 'paid';
  return html`<${Page} title=${t('order.title', { id: order.id })} crumbs=${[{ label: t('nav.orders'), to: '/orders' }]} actions=${actions}
      badge=${html`<${StatusBadge} id=${status} name=${order.status.name} />${repeats ? null : html`<${Badge} kind=${PAYMENT[order.payment_state]}>${t(`order.payment.${order.payment_state}`)}<//>`}`} />
    <div class="columns">
      <div>
        <${Lines} order=${order} etag=${etag} done=${refresh} />
        ${order.refunds.length > 0 && html`<${Refunds} order=${order} />`}
        <${History} round=${round} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/orders/{id}/history', { id: order.id, page }, { signal })}
          part=${(/** @type {string} */ field) => itemOf(order, field)} />
      </div>
      <div>
        <${Card} title=${t('column.counterparty')}><${Facts} rows=${[
          [t('column.counterparty'), html`<${Link} to=${`/customers/${order.counterparty.id}`}>${order.counterparty.name || `№ ${order.counterparty.id}`}<//>`],
          [t('field.phone'), order.counterparty.phone ? html`<a href=${`tel:+${order.counterparty.phone}`}>${phone(order.counterparty.phone)}</a>` : '–'],
          [t('order.delivery'), [order.delivery_type.name, order.delivery_subtype?.name].filter(Boolean).join(', ')],
          order.shop ? [t('order.shop'), order.shop.name] : null,
        ]} /><//>
        <${Card} title=${t('order.payments')}><${Facts} rows=${[
          [t('order.due'), html`<b>${money(order.amount_due)}</b>`], [t('order.captured'), money(order.captured_amount)],
          Number(order.refunded_amount) > 0 ? [t('order.refunded'), money(order.refunded_amount)] : null,
          Number(order.refunding_amount) > 0 ? [t('order.refunding'), money(order.refunding_amount)] : null,
          [t('order.paidAt'), dateTime(order.paid_at)], [t('order.createdAt'), dateTime(order.created_at)],
          order.payment_type ? [t('order.paymentType'), order.payment_type.name] : null,
          order.application ? [t('column.application'), order.application.name] : null,
        ]} /><//>
        <${Details} order=${order} etag=${etag} done=${refresh} edits=${edits} />
        ${order.total_tickets > 0 && html`<${Tickets} order=${order} round=${round} />`}
        <${Files} id=${order.id} />
      </div>
    </div>`;
}

/** The item that a dotted field of the history belongs to. @param {Order} order @param {string} field */
function itemOf(order, field) {
  const [kind, number] = field.split('.');
  const id = Number(number);
  const line = order.reservations.find((one) => (kind === 'nomenclatures' ? one.nomenclature.id === id : kind === 'reservations' && one.id === id));
  return line?.nomenclature.name ?? (kind === 'nomenclatures' ? `${t('field.nomenclature_id')} № ${number}` : undefined);
}

/** @param {{ order: Order }} props */
function Refunds({ order }) {
  return html`<${Card} title=${t('order.refunds')} flush><ul class="list">${order.refunds.map((refund) => html`<li key=${refund.id}>
    <div class="grow"><b>${money(refund.amount)}</b> ${refund.reason}<p class="faint">${dateTime(refund.created_at)} · ${t(refund.restock ? 'order.restocked' : 'order.notRestocked')}</p></div>
    <${Badge} kind=${refund.state === 'succeeded' ? 'good' : refund.state === 'failed' ? 'bad' : 'warn'}>${t(`order.refundState.${refund.state}`)}<//></li>`)}</ul><//>`;
}

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [
  { name: 'comment', kind: 'area', max: 65535 },
  { name: 'address', kind: 'text', max: 500, wide: true },
  { name: 'manager_id', kind: 'choice', options: options.managers, when: () => can('view-users'), wide: true },
];

/** @param {{ order: Order, etag: string | null, done: () => void, edits: boolean }} props */
function Details({ order, etag, done, edits }) {
  const record = useMemo(() => ({ ...order, manager_id: order.manager?.id ?? null }), [order]);
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    await put('/api/orders/{id}', { id: order.id }, changes, match ? { match } : {});
    toast(t('saved'));
    done();
  };
  const reread = async () => {
    const newer = await read('/api/orders/{id}', { id: order.id });
    return { record: { ...newer.body.order, manager_id: newer.body.order.manager?.id ?? null }, etag: newer.etag };
  };
  return html`<${Card} title=${t('order.details')}><${RecordForm} fields=${fields} record=${record} etag=${etag} save=${save} reread=${reread} readonly=${!edits} /><//>`;
}
