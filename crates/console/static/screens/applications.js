// @ts-check
// Applications: web shops and apps of the project. A token is shown once, when it is issued.
import { get, post, put, read } from '../lib/api.js';
import { confirm, focusMain, toast } from '../lib/dialog.js';
import { date, dateTime } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { createInDialog, crud, RecordList, showSecret } from '../lib/list.js';
import { forget, useLoad } from '../lib/load.js';
import { matching, RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Badge, Card, Facts, Loading } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/applications', 'get'>['applications'][number] & { branch: string }} Application */

const application = crud('/api/applications', '/api/applications/{id}', 'application', {
  title: 'application.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'url', kind: 'text', max: 500, wide: true },
    { name: 'branch_id', kind: 'choice', required: true, options: options.branches, when: () => can('view-branches') },
    { name: 'wholesale', kind: 'check' },
  ],
});

/** @param {AbortSignal} signal */
async function load(signal) {
  const [{ applications }, branches] = await Promise.all([get('/api/applications', {}, { signal }), options.branches()]);
  return applications.map((one) => ({ ...one, branch: branches.find(({ value }) => value === one.branch_id)?.label ?? '' }));
}

async function create() {
  const token = await createInDialog({
    title: t('application.new'), fields: application.fields, create: async (values) => (await post('/api/applications', {}, values)).application.token,
  });
  if (token === null) return false;
  forget('/api/applications');
  return showSecret(t('application.token'), token);
}

/** @param {{ active: boolean }} props */
const State = ({ active }) => html`<${Badge} kind=${active ? 'good' : 'bad'}>${t(active ? 'application.active' : 'application.inactive')}<//>`;

/** @param {{ params: { id?: string } }} props */
export default function Applications({ params: { id } }) {
  if (id) return html`<${RecordPage} resource=${application} id=${id} to="/applications" crumb="nav.applications" edits=${can('edit-applications')} view=${view} />`;
  return html`<${RecordList} title=${t('nav.applications')} note=${t('application.note')} icon="key" load=${load}
    empty=${{ title: t('application.none'), text: t('application.noneText') }}
    create=${can('create-applications') && can('view-branches') && { label: t('application.new'), run: create }}
    row=${(/** @type {Application} */ { id: number, name, url, branch, wholesale, is_active: active, created_at: at }) => html`
      <div class="grow"><${Link} to=${`/applications/${number}`}><b>${name}</b><//> <${State} active=${active} />
        ${wholesale && html` <${Badge}>${t('field.wholesale')}<//>`}
        <p class="faint">${[url, branch, `№ ${number}`, date(at)].filter(Boolean).join(' · ')}</p></div>
      ${can('view-webhooks') && html`<${Link} to=${`/webhooks?application=${number}`}>${t('nav.webhooks')}<//>`}`} />`;
}

/** @param {any} one @param {() => void} refresh @param {string | null} etag @returns {import('../lib/record.js').View} */
function view(one, refresh, etag) {
  const { id, name, is_active: active } = one;
  const edits = can('edit-applications');
  const turn = async (/** @type {'activate' | 'deactivate'} */ command) => {
    if (command === 'deactivate' && !await confirm({ title: t('application.offAsk', { name }), text: t('application.offText'), confirm: t('application.off'), danger: true })) return;
    await attempt(() => post(`/api/applications/{id}/${command}`, { id }, {}, matching(etag)), t('saved'));
    refresh();
    focusMain();
  };
  const rotate = async () => {
    if (!await confirm({ title: t('application.rotateAsk', { name }), text: t('application.rotateText'), confirm: t('application.rotate'), danger: true })) return;
    let token = '';
    const done = await attempt(async () => { token = (await post('/api/applications/{id}/rotate-token', { id }, {}, matching(etag))).application.token; });
    if (done) await showSecret(t('application.token'), token);
    refresh();
  };
  return {
    title: name, badge: html`<${State} active=${active} />`,
    actions: edits && html`
      <button type="button" class="button" onClick=${rotate}><${Icon} name="key" size=${16} />${t('application.rotate')}</button>
      <button type="button" class="button" onClick=${() => turn(active ? 'deactivate' : 'activate')}>${t(active ? 'application.off' : 'application.on')}</button>`,
    side: html`<${Card}><${Facts} rows=${[
        [t('column.id'), id], [t('field.token_issued_at'), dateTime(one.token_issued_at)], [t('column.created_at'), dateTime(one.created_at)], [t('column.updated_at'), dateTime(one.updated_at)],
      ]} /><//>
      <${PaymentTypes} id=${id} version=${etag} edits=${edits} refresh=${refresh} />`,
    history: (page, signal) => get('/api/applications/{id}/history', { id, page }, { signal }),
  };
}

/** Payment types that an application accepts. They have the version of the application. @param {number} id @param {{ signal?: AbortSignal }} [settings] */
async function acceptedBy(id, settings) {
  const { body: { paymentTypes: all }, etag } = await read('/api/applications/{id}/payment_types', { id }, settings);
  return { all, record: { payment_type_ids: all.filter((one) => one.is_accepted).map((one) => one.id) }, etag };
}

/** @param {{ id: number, version: string | null, edits: boolean, refresh: () => void }} props */
function PaymentTypes({ id, version, edits, refresh }) {
  const loaded = useLoad((signal) => acceptedBy(id, { signal }), [id, version]);
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {unknown} */ _, /** @type {string | undefined} */ match) => {
    await put('/api/applications/{id}/payment_types', { id }, changes, matching(match));
    toast(t('saved'));
    refresh();
  };
  return html`<${Card} title=${t('nav.paymentTypes')} actions=${can('view-dictionaries') && html`<${Link} to="/payment-types">${t('paymentType.all')}<//>`}>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {Awaited<ReturnType<typeof acceptedBy>>} */ { all, record, etag }) => html`<${RecordForm} record=${record} etag=${etag} save=${save}
      reread=${() => acceptedBy(id)} readonly=${!edits} fields=${[
        { name: 'payment_type_ids', kind: 'tags', wide: true, hint: 'application.acceptedHint', options: async () => all.map((one) => ({ value: one.id, label: one.name })) },
      ]} />`}<//><//>`;
}
