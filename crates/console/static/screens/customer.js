// @ts-check
// One customer: data, contacts, orders and history. `/customers/new` creates one.
import { get, post, put, read, remove } from '../lib/api.js';
import { dateTime, money, phone } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { customerName } from '../lib/picker.js';
import { editRecord, RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options, worded } from '../lib/tables.js';
import { Card, Empty, Facts, Loading } from '../lib/ui.js';
import { StatusBadge } from './order-moves.js';

/** @typedef {import('../types/shapes').Answered<'/api/counterparties/{id}', 'get'>['counterparty']} Customer */

/** Number of the customer type for companies. */
const COMPANY = 2;
const KINDS = ['phone', 'email', 'whatsapp', 'telegram', 'max', 'website', 'other'];

/** @param {Record<string, any>} values */
const company = (values) => Boolean(values.is_company);
/** @param {Record<string, any>} values */
const person = (values) => !values.is_company;

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'do.customerNew',
  fields: [
    { name: 'is_company', kind: 'check' },
    { name: 'name', kind: 'text', max: 255, wide: true, when: company },
    { name: 'inn', kind: 'text', max: 12, when: company },
    { name: 'kpp', kind: 'text', max: 9, when: company },
    { name: 'last_name', kind: 'text', max: 255, when: person },
    { name: 'first_name', kind: 'text', max: 255, when: person },
    { name: 'middle_name', kind: 'text', max: 255, when: person },
    { name: 'birthday', kind: 'date', when: person },
    { name: 'phone_1', kind: 'phone' },
    { name: 'phone_2', kind: 'phone' },
    { name: 'email', kind: 'email' },
    { name: 'manager_id', kind: 'choice', options: options.managers, when: () => can('view-users') },
    { name: 'address', kind: 'text', max: 500, wide: true },
  ],
  empty: { is_company: false },
  async read(id, settings) {
    const { body: { counterparty }, etag } = await read('/api/counterparties/{id}', { id }, settings);
    return { record: { ...counterparty, is_company: counterparty.type.id === COMPANY, manager_id: counterparty.manager?.id ?? null }, etag };
  },
  create: async (values) => (await post('/api/counterparties', {}, values)).counterparty.id,
  update: (id, changes, settings, values) => put('/api/counterparties/{id}', { id }, { is_company: Boolean(values.is_company), ...changes }, settings),
  remove: (id, settings) => remove('/api/counterparties/{id}', { id }, settings),
  removeText: 'customer.deleteText',
};

/** @param {{ params: { id: string } }} props */
export default function CustomerScreen({ params: { id } }) {
  const edits = can(id === 'new' ? 'create-counterparties' : 'edit-counterparties');
  return html`<${RecordPage} resource=${resource} id=${id} to="/customers" crumb="nav.customers" edits=${edits} card=${t('customer.data')} view=${(/** @type {Customer} */ customer) => ({
    title: customerName(customer), note: customer.type.name,
    actions: can('create-orders') && html`<${Link} to=${`/orders/new?customer=${customer.id}`} class="button primary"><${Icon} name="plus" size=${16} />${t('nav.orderNew')}<//>`,
    below: can('view-orders') && html`<${Orders} id=${customer.id} />`,
    history: (/** @type {number} */ _page, /** @type {AbortSignal} */ signal) => get('/api/counterparties/{id}/history', { id }, { signal }),
    side: html`<${Card}><${Facts} rows=${[[t('column.orders_count'), customer.orders_count], [t('column.created_at'), dateTime(customer.created_at)], [t('column.updated_at'), dateTime(customer.updated_at)]]} /><//>
      <${Contacts} id=${customer.id} edits=${edits} />`,
  })} />`;
}

/** @param {{ id: number }} props */
function Orders({ id }) {
  const loaded = useLoad((signal) => get('/api/orders', { counterparty_id: [id], order_by: 'id_desc', per_page: 10 }, { signal }), [id]);
  return html`<${Card} title=${t('nav.orders')} flush>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {any} */ { orders }) => (orders.length ? html`<ul class="list">${orders.map((/** @type {any} */ order) => html`<li key=${order.id}>
      <div class="grow"><${Link} to=${`/orders/${order.id}`}><b>№ ${order.id}</b><//><p class="faint">${dateTime(order.created_at)}</p></div>
      <${StatusBadge} id=${order.status.id} name=${order.status.name} /><b>${money(order.amount_due)}</b></li>`)}</ul>`
    : html`<${Empty} icon="orders" title=${t('customer.ordersNone')} />`)}<//>
  <//>`;
}

/** Contacts of a customer. @param {number} id @returns {import('../lib/record.js').Resource} */
const contacts = (id) => ({
  title: 'customer.contact',
  fields: [
    { name: 'kind', label: t('field.kind_id'), kind: 'choice', required: true, options: worded((kind) => t(`contact.${kind}`), KINDS) },
    { name: 'value', label: t('customer.contact'), kind: 'text', required: true, max: 255 },
    { name: 'name', kind: 'text', max: 255 },
    { name: 'comment', kind: 'text', max: 500, wide: true },
  ],
  empty: { kind: 'phone' },
  async read(contactId, settings) {
    const { body, etag } = await read('/api/counterparties/{id}/contacts/{contactId}', { id, contactId }, settings);
    return { record: body.contact, etag };
  },
  create: async (values) => (await post('/api/counterparties/{id}/contacts', { id }, values)).contact.id,
  update: (contactId, changes, settings) => put('/api/counterparties/{id}/contacts/{contactId}', { id, contactId }, changes, settings),
});

/** @param {{ id: number, edits: boolean }} props */
function Contacts({ id, edits }) {
  const loaded = useLoad((signal) => get('/api/counterparties/{id}/contacts', { id }, { signal }), [id]);
  const edit = async (/** @type {any} */ contact) => {
    if (await editRecord(contacts(id), { id: contact?.id ?? null })) loaded.reload();
  };
  return html`<${Card} title=${t('customer.contacts')} actions=${edits && html`<button type="button" class="button small" onClick=${() => edit(null)}><${Icon} name="plus" size=${14} />${t('add')}</button>`}>
    <${Loading} of=${loaded} lines=${2}>${(/** @type {any} */ { contacts }) => html`
      ${contacts.length === 0 && html`<p class="note">${t('customer.contactsNone')}</p>`}
      <ul class="plain">${contacts.map((/** @type {any} */ contact) => html`<li key=${contact.id} class="row">
        <span class="grow"><b>${contact.kind === 'phone' ? phone(contact.value) : contact.value}</b>
          <span class="faint"> ${[t(`contact.${contact.kind}`), contact.name, contact.comment].filter(Boolean).join(' · ')}</span></span>
        ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${contact.value}`} onClick=${() => edit(contact)}><${Icon} name="edit" size=${16} /></button>`}</li>`)}</ul>`}<//>
  <//>`;
}
