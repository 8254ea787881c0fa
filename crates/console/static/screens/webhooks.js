// @ts-check
// Webhooks of an application: receivers, their secrets and deliveries.
import { get, patch, post, read, remove } from '../lib/api.js';
import { confirm } from '../lib/dialog.js';
import { dateTime } from '../lib/format.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { createInDialog, RecordList, showSecret } from '../lib/list.js';
import { Applications, matching, RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
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
  if (params.id) return html`<${OneWebhook} key=${params.id} application=${Number(params.application)} id=${params.id} />`;
  return html`<${Page} title=${t('nav.webhooks')} note=${t('webhook.note')} />
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
const cells = {
  status: (/** @type {any} */ row) => html`<${Badge} kind=${KINDS[row.status]}>${t(`delivery.${row.status}`)}<//>`,
};

/** @param {{ application: number, id: string }} props */
function OneWebhook({ application, id }) {
  const [round, setRound] = useState(0);
  const edits = can('edit-webhooks');
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
  const resend = (/** @type {any} */ row) => attempt(() => post('/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}/resend', { ...path, delivery: row.id }), t('delivery.queued'))
    .then(() => setRound(round + 1));
  const below = html`<h2>${t('deliveries')}</h2>
    <${Table} id="deliveries" table=${tables.deliveries} fixed=${path} round=${round} cells=${cells}
      extra=${html`<button type="button" class="button" onClick=${() => setRound(round + 1)}><${Icon} name="refresh" size=${16} />${t('deliveries.reload')}</button>`}
      empty=${{ icon: 'link', title: t('deliveries.none'), text: t('deliveries.noneText') }}
      actions=${edits ? [{ key: 'r', label: t('delivery.resend'), icon: 'refresh', run: resend, when: (/** @type {any} */ row) => row.status !== 'pending' }] : []} />`;
  return html`<${RecordPage} resource=${resource} id=${id} to=${`/webhooks?application=${application}`} crumb="nav.webhooks" edits=${edits}
    view=${(/** @type {any} */ { name, url }, /** @type {() => void} */ refresh, /** @type {string | null} */ etag) => ({
      title: name ?? url, below,
      actions: edits && html`<button type="button" class="button" onClick=${() => rotate(etag, refresh)}><${Icon} name="key" size=${16} />${t('webhook.rotate')}</button>`,
    })} />`;
}
