// @ts-check
// Webhooks of an application: receivers, their secrets and deliveries. `/deliveries` has those of all webhooks.
import { get, patch, post, read, remove } from '../lib/api.js';
import { confirm, toast } from '../lib/dialog.js';
import { dateTime } from '../lib/format.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { createInDialog, RecordList, showSecret } from '../lib/list.js';
import { Applications, matching, RecordPage } from '../lib/record.js';
import { Link, place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { attempt, Badge, Page } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/applications/{application}/webhooks', 'get'>['webhooks'][number]} Webhook */

/** @returns {import('../lib/form.js').FieldSpec[]} */
const fields = () => [
  { name: 'url', kind: 'text', required: true, max: 2048, wide: true },
  { name: 'name', kind: 'text', max: 255, wide: true },
  { name: 'is_active', label: t('webhook.on'), kind: 'check' },
];

/** @param {number} application @returns {import('../lib/record.js').Resource} */
const webhookOf = (application) => ({
  title: 'webhook.new', fields: fields(), removeText: 'webhook.deleteText',
  read: async (webhook, options) => {
    const { body, etag } = await read('/api/applications/{application}/webhooks/{webhook}', { application, webhook }, options);
    return { record: body.webhook, etag };
  },
  update: (webhook, changes, options) => patch('/api/applications/{application}/webhooks/{webhook}', { application, webhook }, changes, options),
  remove: (webhook, options) => remove('/api/applications/{application}/webhooks/{webhook}', { application, webhook }, options),
});

/** Creates a webhook and shows its secret. @param {number} application */
async function create(application) {
  const secret = await createInDialog({
    title: t('webhook.new'), fields: fields(), empty: { is_active: true },
    create: async (values) => (await post('/api/applications/{application}/webhooks', { application }, values)).webhook.secret,
  });
  return secret !== null && showSecret(t('webhook.secret'), secret);
}

/** @param {{ params: { application?: string, id?: string } }} props */
export default function Webhooks({ params }) {
  if (place.get().path === '/deliveries') return html`<${AllDeliveries} />`;
  if (params.id) return html`<${OneWebhook} key=${params.id} application=${Number(params.application)} id=${params.id} />`;
  return html`<${Page} title=${t('nav.webhooks')} note=${t('webhook.note')} actions=${html`<${Link} to="/deliveries" class="button">${t('nav.deliveries')}<//>`} />
    <${Applications} base="/webhooks">${(/** @type {number} */ application) => html`<${RecordList} key=${application} icon="link"
      empty=${{ title: t('webhook.none'), text: t('webhook.noneText') }}
      load=${(/** @type {AbortSignal} */ signal) => get('/api/applications/{application}/webhooks', { application }, { signal }).then(({ webhooks }) => webhooks)}
      create=${can('create-webhooks') && { label: t('webhook.new'), run: () => create(application) }}
      row=${(/** @type {Webhook} */ one) => html`<div class="grow"><${Link} to=${`/webhooks/${application}/${one.id}`}><b>${one.name ?? one.url}</b><//>
          <p class="faint">${one.name ? one.url : dateTime(one.created_at)}</p></div>
        <${Badge} kind=${one.is_active ? 'good' : 'plain'}>${t(one.is_active ? 'webhook.on' : 'webhook.off')}<//>`} />`}<//>`;
}

/** Colours of the states of a delivery. @type {Record<string, 'good' | 'bad' | 'warn'>} */
const KINDS = { delivered: 'good', failed: 'bad', pending: 'warn' };
/** @type {Record<string, (row: any) => any>} */
const cells = {
  status: (row) => html`<${Badge} kind=${KINDS[row.status]}>${t(`delivery.${row.status}`)}<//>`,
  webhook: (row) => html`<${Link} to=${`/webhooks/${row.application_id}/${row.webhook_id}`} tabindex="-1">${row.webhook_name ?? `№ ${row.webhook_id}`}<//>`,
};

/** Sends a delivery again. @param {{ application: number, webhook: number, delivery: number }} path */
const resend = (path) => attempt(() => post('/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}/resend', path), t('delivery.queued'));

/** What a person may do with a delivery. @param {(row: any) => void} run */
const resends = (run) => (can('edit-webhooks') ? [{ key: 'r', label: t('delivery.resend'), icon: 'refresh', run, when: (/** @type {any} */ row) => row.status !== 'pending' }] : []);

/** A button that loads a list again. @param {() => void} run */
const reloads = (run) => html`<button type="button" class="button" onClick=${run}><${Icon} name="refresh" size=${16} />${t('deliveries.reload')}</button>`;

function AllDeliveries() {
  const [round, setRound] = useState(0);
  const again = () => setRound((/** @type {number} */ n) => n + 1);
  const actions = useMemo(() => resends((row) => void resend({ application: row.application_id, webhook: row.webhook_id, delivery: row.id }).then(again)), []);
  return html`<${Page} title=${t('nav.deliveries')} crumbs=${[{ label: t('nav.webhooks'), to: '/webhooks' }]} />
    <${Table} id="all-deliveries" table=${tables.webhookDeliveries} round=${round} cells=${cells} extra=${reloads(again)} actions=${actions}
      empty=${{ icon: 'link', title: t('deliveries.none'), text: t('deliveries.noneText') }} />`;
}

/** Seconds to wait for the result of a test event. */
const PATIENCE = 10;

/** Sends a test event and waits for its result. @param {{ application: number, webhook: number }} path */
const sendTest = (path) => attempt(async () => {
  let { delivery } = await post('/api/applications/{application}/webhooks/{webhook}/test', path);
  for (let second = 0; second < PATIENCE && delivery.status === 'pending' && delivery.attempts === 0; second++) {
    await new Promise((done) => setTimeout(done, 1000));
    delivery = (await get('/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}', { ...path, delivery: delivery.id })).delivery;
  }
  const failed = delivery.status !== 'delivered' && delivery.attempts > 0;
  toast(t(failed ? 'webhook.testFailed' : delivery.status === 'delivered' ? 'webhook.testDone' : 'webhook.testWaits'), { kind: failed ? 'error' : 'done' });
});

/** @param {{ application: number, id: string }} props */
function OneWebhook({ application, id }) {
  const [round, setRound] = useState(0);
  const [testing, setTesting] = useState(false);
  const edits = can('edit-webhooks');
  const again = () => setRound((/** @type {number} */ n) => n + 1);
  const resource = useMemo(() => webhookOf(application), [application]);
  const path = { application, webhook: Number(id) };
  const rotate = async (/** @type {string | null} */ etag, /** @type {() => void} */ refresh) => {
    if (!await confirm({ title: t('webhook.rotateAsk'), text: t('webhook.rotateText'), confirm: t('webhook.rotate'), danger: true })) return;
    let secret = '';
    const done = await attempt(async () => {
      secret = (await post('/api/applications/{application}/webhooks/{webhook}/rotate-secret', path, {}, matching(etag))).webhook.secret;
    });
    if (done) await showSecret(t('webhook.secret'), secret);
    refresh();
  };
  const test = async () => {
    if (testing) return;
    setTesting(true);
    await sendTest(path);
    setTesting(false);
    again();
  };
  const actions = useMemo(() => resends((row) => void resend({ ...path, delivery: row.id }).then(again)), [application, id]);
  const below = html`<h2>${t('deliveries')}</h2>
    <${Table} id="deliveries" table=${tables.deliveries} fixed=${path} round=${round} cells=${cells}
      extra=${reloads(again)}
      empty=${{ icon: 'link', title: t('deliveries.none'), text: t('deliveries.noneText') }} actions=${actions} />`;
  return html`<${RecordPage} resource=${resource} id=${id} to=${`/webhooks?application=${application}`} crumb="nav.webhooks" edits=${edits}
    view=${(/** @type {any} */ { name, url, is_active: active }, /** @type {() => void} */ refresh, /** @type {string | null} */ etag) => ({
      title: name ?? url, below,
      actions: edits && html`${active && html`<button type="button" class="button" aria-disabled=${testing} onClick=${test}><${Icon} name="link" size=${16} />${t(testing ? 'webhook.testing' : 'webhook.test')}</button>`}
        <button type="button" class="button" onClick=${() => rotate(etag, refresh)}><${Icon} name="key" size=${16} />${t('webhook.rotate')}</button>`,
    })} />`;
}
