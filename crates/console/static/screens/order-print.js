// @ts-check
// Packing slips of several orders, one page each.
import { get } from '../lib/api.js';
import { dateTime, money, number, phone, projectName } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad } from '../lib/load.js';
import { place } from '../lib/router.js';
import { Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('./order.js').Order} Order */

export default function Print() {
  const { query } = place.use();
  const ids = [...new Set(query.getAll('id').map(Number).filter((id) => Number.isInteger(id) && id > 0))].slice(0, 100);
  const loaded = useLoad(async (signal) => {
    /** @type {Order[]} */
    const orders = [];
    for (const id of ids) orders.push((await get('/api/orders/{id}', { id }, { signal })).order);
    return orders;
  }, [ids]);
  const start = () => window.print();
  const ready = Boolean(loaded.data?.length);
  useActions(ready ? [{ id: 'print', label: t('print'), icon: 'print', keys: 'p', run: start }] : []);
  return html`<${Page} title=${t('nav.packing')} crumbs=${[{ label: t('nav.orders'), to: '/orders' }]} actions=${html`
      <button type="button" class="button primary" disabled=${!ready} onClick=${start}><${Icon} name="print" size=${16} />${t('print')} <kbd>P</kbd></button>`} />
    <${Loading} of=${loaded}>${(/** @type {Order[]} */ orders) => (orders.length
      ? orders.map((order) => html`<${Slip} key=${order.id} order=${order} />`)
      : html`<${Empty} icon="print" title=${t('order.printNone')} />`)}<//>`;
}

/** @param {{ order: Order }} props */
function Slip({ order }) {
  const lines = order.reservations.filter((line) => line.state !== 'released' && line.quantity > line.refunded_quantity);
  return html`<article class="card slip"><div class="card-body">
    <div class="row spread"><h2>${t('order.title', { id: order.id })}</h2><span class="note">${projectName()}</span></div>
    <p>${order.counterparty.name || ''} ${order.counterparty.phone ? phone(order.counterparty.phone) : ''}</p>
    <p>${[order.delivery_type.name, order.delivery_subtype?.name, order.shop?.name, order.address].filter(Boolean).join(', ')}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label=${t('order.lines')}><table>
      <thead><tr><th scope="col">${t('field.article')}</th><th scope="col">${t('field.nomenclature_id')}</th><th scope="col">${t('field.warehouse_id')}</th><th scope="col" class="right">${t('field.quantity')}</th></tr></thead>
      <tbody>${lines.map((line) => html`<tr key=${line.id}><td>${line.nomenclature.article ?? ''}</td><td>${line.nomenclature.name}</td><td>${line.warehouse?.name ?? ''}</td>
        <td class="right"><b>${number(line.quantity - line.refunded_quantity)}</b></td></tr>`)}</tbody>
    </table></div>
    ${order.comment && html`<p class="prewrap">${order.comment}</p>`}
    <p class="note">${dateTime(order.created_at)} · ${t('order.due')}: ${money(order.amount_due)} · ${t(`order.payment.${order.payment_state}`)}</p>
  </div></article>`;
}
