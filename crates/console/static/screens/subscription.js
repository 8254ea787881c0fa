// @ts-check
// One subscription: why it is as it is, what comes next, and what staff can do about it.
import { get, post } from '../lib/api.js';
import { confirm, focusMain, Menu } from '../lib/dialog.js';
import { ago, date, dateTime, money, phone } from '../lib/format.js';
import { History } from '../lib/history.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad } from '../lib/load.js';
import { editRecord } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { attempt, Badge, Card, Facts, Loading, Page } from '../lib/ui.js';
import { KINDS } from './subscriptions.js';

/** @typedef {import('../types/shapes').Answered<'/api/subscriptions/{id}', 'get'>['subscription']} Subscription */

/** @param {{ params: { id: string } }} props */
export default function SubscriptionScreen({ params }) {
  const id = Number(params.id);
  const [round, setRound] = useState(0);
  const loaded = useLoad((signal) => get('/api/subscriptions/{id}', { id }, { signal }), [id]);
  const refresh = () => {
    loaded.reload();
    setRound((/** @type {number} */ n) => n + 1);
  };
  return html`<${Loading} of=${loaded}>${(/** @type {{ subscription: Subscription }} */ { subscription }) => html`
    <${Head} subscription=${subscription} refresh=${refresh} />
    <div class="columns">
      <div>
        <${Reason} subscription=${subscription} />
        <${Payments} id=${id} round=${round} />
        <${History} round=${round} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/subscriptions/{id}/history', { id, page }, { signal })} />
      </div>
      <div><${About} subscription=${subscription} /><${Consents} id=${id} /></div>
    </div>`}<//>`;
}

/** A command that needs a value, as a form. @param {string} title @param {import('../lib/form.js').FieldSpec} field @param {(values: any) => Promise<unknown>} run */
const ask = (title, field, run) => editRecord({
  title, submit: title, fields: [field], read: async () => ({ record: {}, etag: '' }), update: run, create: async (values) => { await run(values); return 0; },
});

/** @param {{ subscription: Subscription, refresh: () => void }} props */
function Head({ subscription, refresh }) {
  const { id, status, parked } = subscription;
  const edits = can('edit-subscriptions');
  /** @param {'release' | 'charge' | 'skip' | 'cancel'} command @param {boolean} [danger] */
  const run = async (command, danger = false) => {
    const text = t(`subscription.${command}Text`, { sum: money(subscription.amount) });
    if (!await confirm({ title: t(`subscription.${command}Ask`), text, confirm: t(`subscription.${command}`), danger })) return;
    await attempt(() => post(`/api/subscriptions/{id}/${command}`, { id }), t('subscription.done'));
    refresh();
    focusMain();
  };
  const pause = async () => {
    if (await ask('subscription.pause', { name: 'until', kind: 'datetime', required: true, hint: 'subscription.pauseText' },
      (values) => post('/api/subscriptions/{id}/pause', { id }, { until: values.until }))) refresh();
  };
  const move = async () => {
    if (await ask('subscription.moveDay', { name: 'day', kind: 'number', required: true, min: 1, hint: 'subscription.moveDayText' },
      (values) => post('/api/subscriptions/{id}/billing-day', { id }, { day: values.day }))) refresh();
  };
  const open = status !== 'canceled';
  const commands = edits ? [
    parked && open ? { id: 'release', label: t('subscription.release'), icon: 'check', run: () => void run('release') } : null,
    open ? { id: 'charge', label: t('subscription.charge'), icon: 'money', run: () => void run('charge') } : null,
    open ? { id: 'pause', label: t('subscription.pause'), icon: 'clock', run: () => void pause() } : null,
    open ? { id: 'skip', label: t('subscription.skip'), icon: 'chevron', run: () => void run('skip') } : null,
    open ? { id: 'day', label: t('subscription.moveDay'), icon: 'today', run: () => void move() } : null,
    open ? { id: 'cancel', label: t('subscription.cancel'), icon: 'close', danger: true, run: () => void run('cancel', true) } : null,
  ].filter((command) => command !== null) : [];
  useActions(commands);
  return html`<${Page} title=${`${subscription.nomenclature.name} · № ${id}`} crumbs=${[{ label: t('nav.subscriptions'), to: '/subscriptions' }]}
    badge=${html`<${Badge} kind=${KINDS[status]}>${t(`subscription.status.${status}`)}<//>${parked && html` <${Badge} kind="warn">${t('field.parked')}<//>`}`}
    actions=${html`${commands.slice(0, parked ? 2 : 1).map((command, index) => html`<button type="button" key=${command.id} class=${index === 0 ? 'button primary' : 'button'} onClick=${command.run}>
      <${Icon} name=${command.icon} size=${16} />${command.label}</button>`)}<${Menu} label=${t('table.actions')} items=${commands.slice(parked ? 2 : 1)} />`} />`;
}

/** Reason why charges stopped, if they did, and the next step of the service. @param {{ subscription: Subscription }} props */
function Reason({ subscription }) {
  const { status, parked, latest_payment: last, next_charge_at: next, next_terms: terms, current_period_end: end } = subscription;
  const paid = end && new Date(end) > new Date();
  return html`<${Card} title=${t('subscription.why')}>
    ${parked && html`<div class="form-problem" role="note"><p><b>${t(`parked.${parked}`)}</b></p><p>${t(`parkedText.${parked}`)}</p><p>${ago(subscription.parked_at)}</p></div>`}
    ${!subscription.application_is_active && html`<p class="form-problem">${t('subscription.inactive')}</p>`}
    <${Facts} rows=${[
      [t('field.status'), t(`subscription.because.${status}`)],
      [t('subscription.access'), paid ? t('subscription.until', { date: dateTime(end) }) : t('subscription.noAccess')],
      last ? [t('subscription.last'), html`<${PaymentBadge} payment=${last} /> ${money(last.amount)}, ${dateTime(last.created_at)}${last.reason && html`<p class="note">${last.reason}</p>`}`] : null,
      [t('subscription.next'), parked ? t('subscription.nextParked') : next ? html`<b>${money((terms ?? subscription).amount)}</b>, ${dateTime(next)}` : t('subscription.nextNone')],
      terms ? [t('subscription.terms'), t('subscription.termsText', { plan: terms.plan_slug, sum: money(terms.amount), n: terms.billing_period_months })] : null,
      subscription.missed_periods.length ? [t('subscription.missed'), subscription.missed_periods.join(', ')] : null,
    ]} />
  <//>`;
}

/** @param {{ payment: { status: string } }} props */
const PaymentBadge = ({ payment }) => html`<${Badge} kind=${KINDS[payment.status]}>${t(`subscription.payment.${payment.status}`)}<//>`;

/** @param {{ id: number, round: number }} props */
function Payments({ id, round }) {
  const [size, setSize] = useState(15);
  const loaded = useLoad((signal) => get('/api/subscriptions/{id}/payments', { id, per_page: size }, { signal }), [id, round, size]);
  return html`<${Card} title=${t('subscription.payments')} flush><${Loading} of=${loaded} lines=${2}>${(/** @type {import('../types/shapes').Answered<'/api/subscriptions/{id}/payments', 'get'>} */ { payments, paymentsCount }) => html`
    <ul class="list">${payments.map((payment) => html`<li key=${payment.id}>
      <div class="grow">${t('subscription.attempt', { period: payment.period, attempt: payment.attempt })} · ${t(`subscription.origin.${payment.origin}`)}
        <p class="faint">${dateTime(payment.created_at)}${payment.reason && ` · ${payment.reason}`}</p></div>
      <${PaymentBadge} payment=${payment} /><b>${money(payment.amount)}</b>
      ${can('view-orders') && html`<${Link} to=${`/orders/${payment.order_id}`}>${t('palette.order', { id: payment.order_id })}<//>`}</li>`)}</ul>
    ${payments.length === 0 && html`<p class="card-body note">${t('subscription.paymentsNone')}</p>`}
    ${payments.length < paymentsCount && size < 100 && html`<p class="card-body"><button type="button" class="link" onClick=${() => setSize(100)}>${t('more')}</button></p>`}`}<//><//>`;
}

/** @param {{ subscription: Subscription }} props */
function About({ subscription }) {
  const { counterparty, nomenclature } = subscription;
  const name = counterparty.name || phone(counterparty.phone);
  return html`<${Card}><${Facts} rows=${[
    [t('column.counterparty'), html`<${Link} to=${`/customers/${counterparty.id}`}>${name}<//>`],
    [t('field.phone'), phone(counterparty.phone)],
    [t('column.nomenclature'), html`<${Link} to=${`/items/${nomenclature.id}`}>${nomenclature.name}<//>`],
    [t('field.amount'), t('subscription.every', { sum: money(subscription.amount), n: subscription.billing_period_months })],
    [t('column.application'), subscription.application?.name ?? t('all')],
    [t('subscription.method'), subscription.saved_payment_method_id ? `№ ${subscription.saved_payment_method_id}` : null],
    [t('column.created_at'), dateTime(subscription.created_at)],
    subscription.canceled_at ? [t('subscription.canceledAt'), dateTime(subscription.canceled_at)] : null,
  ]} /><//>`;
}

/** What the customer agreed to. @param {{ id: number }} props */
function Consents({ id }) {
  const loaded = useLoad((signal) => get('/api/subscriptions/{id}/consents', { id }, { signal }), [id]);
  return html`<${Card} title=${t('subscription.consents')} flush><${Loading} of=${loaded} lines=${1}>${(/** @type {import('../types/shapes').Answered<'/api/subscriptions/{id}/consents', 'get'>} */ { consents }) => html`
    <ul class="list">${consents.map((consent) => html`<li key=${consent.created_at}><div class="grow">${t('subscription.every', { sum: money(consent.amount), n: consent.billing_period_months })}
      <p class="faint">${[date(consent.created_at), t('subscription.textVersion', { version: consent.text_version }), consent.address].filter(Boolean).join(' · ')}</p></div></li>`)}</ul>`}<//><//>`;
}
