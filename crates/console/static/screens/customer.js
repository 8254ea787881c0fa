// @ts-check
// One customer: data, contacts, orders and history. `/customers/new` creates one.
import { get, post, put, read, remove } from '../lib/api.js';
import { confirm, Dialog, open, toast } from '../lib/dialog.js';
import { dateTime, money, phone } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { History } from '../lib/history.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { customerName } from '../lib/picker.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Card, Empty, Facts, Loading, Page } from '../lib/ui.js';
import { StatusBadge } from './order-moves.js';

/** @typedef {import('../types/shapes').Answered<'/api/counterparties/{id}', 'get'>['counterparty']} Customer */
/** @typedef {import('../lib/form.js').FieldSpec} FieldSpec */

/** Number of the customer type for companies. */
const COMPANY = 2;
const KINDS = ['phone', 'email', 'whatsapp', 'telegram', 'max', 'website', 'other'];

/** @param {Record<string, any>} values */
const company = (values) => Boolean(values.is_company);
/** @param {Record<string, any>} values */
const person = (values) => !values.is_company;

/** @type {FieldSpec[]} */
const fields = [
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
];

/** @param {Customer} customer */
const recordOf = (customer) => ({ ...customer, is_company: customer.type.id === COMPANY, manager_id: customer.manager?.id ?? null });

const EMPTY = { is_company: false };

/** @param {{ params: { id: string } }} props */
export default function CustomerScreen({ params }) {
  return params.id === 'new' ? html`<${NewCustomer} />` : html`<${OneCustomer} key=${params.id} id=${Number(params.id)} />`;
}

function NewCustomer() {
  const save = async (/** @type {Record<string, any>} */ values) => {
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    const { counterparty } = await post('/api/counterparties', {}, filled);
    toast(t('created'));
    await navigate(`/customers/${counterparty.id}`, { force: true, replace: true });
  };
  return html`<${Page} title=${t('do.customerNew')} crumbs=${[{ label: t('nav.customers'), to: '/customers' }]} />
    <${Card}><${RecordForm} fields=${fields} record=${EMPTY} save=${save} submit=${t('create')} cancel=${() => navigate('/customers')} /><//>`;
}

/** @param {{ id: number }} props */
function OneCustomer({ id }) {
  const [round, setRound] = useState(0);
  const loaded = useLoad((signal) => read('/api/counterparties/{id}', { id }, { signal }), [id]);
  const refresh = () => {
    loaded.reload();
    setRound((/** @type {number} */ n) => n + 1);
  };
  return html`<${Loading} of=${loaded}>${(/** @type {any} */ { body, etag }) => html`<${CustomerView} customer=${body.counterparty} etag=${etag} round=${round} refresh=${refresh} />`}<//>`;
}

/** @param {{ customer: Customer, etag: string | null, round: number, refresh: () => void }} props */
function CustomerView({ customer, etag, round, refresh }) {
  const edits = can('edit-counterparties');
  const record = useMemo(() => recordOf(customer), [customer]);
  const path = { id: customer.id };
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {Record<string, any>} */ values, /** @type {string | undefined} */ match) => {
    await put('/api/counterparties/{id}', path, { is_company: Boolean(values.is_company), ...changes }, match ? { match } : {});
    toast(t('saved'));
    refresh();
  };
  const reread = async () => {
    const newer = await read('/api/counterparties/{id}', path);
    return { record: recordOf(newer.body.counterparty), etag: newer.etag };
  };
  const erase = async () => {
    if (!(await confirm({ title: t('customer.deleteAsk'), text: t('customer.deleteText'), confirm: t('delete'), danger: true }))) return;
    if (await attempt(() => remove('/api/counterparties/{id}', path, etag ? { match: etag } : {}), t('deleted'))) await navigate('/customers', { force: true });
  };
  const actions = html`
    ${edits && html`<button type="button" class="button" onClick=${erase}><${Icon} name="trash" size=${16} />${t('delete')}</button>`}
    ${can('create-orders') && html`<${Link} to=${`/orders/new?customer=${customer.id}`} class="button primary"><${Icon} name="plus" size=${16} />${t('nav.orderNew')}<//>`}`;
  return html`<${Page} title=${customerName(customer)} crumbs=${[{ label: t('nav.customers'), to: '/customers' }]} note=${customer.type.name} actions=${actions} />
    <div class="columns">
      <div>
        <${Card} title=${t('customer.data')}><${RecordForm} fields=${fields} record=${record} etag=${etag} save=${save} reread=${reread} readonly=${!edits} /><//>
        ${can('view-orders') && html`<${Orders} id=${customer.id} />`}
        <${History} round=${round} load=${(/** @type {number} */ _page, /** @type {AbortSignal} */ signal) => get('/api/counterparties/{id}/history', path, { signal })} />
      </div>
      <div>
        <${Card}><${Facts} rows=${[[t('column.orders_count'), customer.orders_count], [t('column.created_at'), dateTime(customer.created_at)], [t('column.updated_at'), dateTime(customer.updated_at)]]} /><//>
        <${Contacts} id=${customer.id} edits=${edits} />
      </div>
    </div>`;
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

/** @param {{ id: number, edits: boolean }} props */
function Contacts({ id, edits }) {
  const loaded = useLoad((signal) => get('/api/counterparties/{id}/contacts', { id }, { signal }), [id]);
  const edit = async (/** @type {any} */ contact) => {
    if (await open((/** @type {(done: boolean) => void} */ close) => html`<${ContactDialog} id=${id} contact=${contact} close=${close} />`)) loaded.reload();
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

/** @param {{ id: number, contact: any, close: (done: boolean) => void }} props */
function ContactDialog({ id, contact, close }) {
  /** @type {FieldSpec[]} */
  const list = [
    { name: 'kind', label: t('field.kind_id'), kind: 'choice', required: true, options: async () => KINDS.map((kind) => ({ value: kind, label: t(`contact.${kind}`) })) },
    { name: 'value', label: t('customer.contact'), kind: 'text', required: true, max: 255 },
    { name: 'name', kind: 'text', max: 255 },
    { name: 'comment', kind: 'text', max: 500, wide: true },
  ];
  const record = useMemo(() => contact ?? { kind: 'phone' }, []);
  const save = async (/** @type {Record<string, any>} */ changes) => {
    if (contact) await put('/api/counterparties/{id}/contacts/{contactId}', { id, contactId: contact.id }, changes);
    else await post('/api/counterparties/{id}/contacts', { id }, Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)));
    toast(t('saved'));
    close(true);
  };
  return html`<${Dialog} title=${t('customer.contact')} onClose=${() => close(false)}>
    <${RecordForm} fields=${list} record=${record} etag=${contact ? '' : null} save=${save} submit=${t('save')} cancel=${() => close(false)} /><//>`;
}
