// @ts-check
// Branches (legal entities) with their bank accounts. `/branches/new` creates one.
import { get, post, put, read } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { crud } from '../lib/list.js';
import { useLoad } from '../lib/load.js';
import { editRecord, RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Card, Empty, Loading, Page } from '../lib/ui.js';
import { accountOwner, Integrations } from './integrations.js';

/** @typedef {import('../types/shapes').Answered<'/api/branches/{id}/bank_requisites', 'get'>['bankRequisites'][number]} Account */

const branch = crud('/api/branches', '/api/branches/{id}', 'branch', {
  title: 'branch.new', removes: '/api/branches/{id}', removeText: 'branch.deleteText',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'inn', kind: 'text', max: 12 },
    { name: 'kpp', kind: 'text', max: 9 },
    { name: 'phone', kind: 'phone' },
    { name: 'email', kind: 'email' },
    { name: 'address', kind: 'text', max: 500, wide: true },
  ],
});

/** @param {number} id @param {AbortSignal} [signal] @returns {Promise<Account[]>} */
const accountsOf = async (id, signal) => (await get('/api/branches/{id}/bank_requisites', { id }, signal ? { signal } : {})).bankRequisites;

/** Bank accounts of a branch. @param {number} id @returns {import('../lib/record.js').Resource} */
const account = (id) => ({
  title: 'account.new',
  fields: [
    { name: 'bik', kind: 'text', required: true, max: 9, hint: t('account.bikHint') },
    { name: 'account', kind: 'text', required: true, max: 20 },
    { name: 'bank_name', kind: 'text', max: 255, wide: true },
    { name: 'correspondent_account', kind: 'text', max: 20 },
    { name: 'comment', kind: 'text', max: 500 },
  ],
  async read(requisiteId, options) {
    const { body, etag } = await read('/api/branches/{id}/bank_requisites/{requisiteId}', { id, requisiteId }, options);
    return { record: body.bankRequisite, etag };
  },
  create: async (values) => (await post('/api/branches/{id}/bank_requisites', { id }, values)).bankRequisite.id,
  update: (requisiteId, changes, options) => put('/api/branches/{id}/bank_requisites/{requisiteId}', { id, requisiteId }, changes, options),
});

/** @param {{ params: { id?: string, account?: string } }} props */
export default function Branches({ params }) {
  const { id } = params;
  if (id && params.account) return html`<${AccountPage} key=${params.account} branchId=${Number(id)} bankId=${Number(params.account)} />`;
  if (id) {
    return html`<${RecordPage} key=${id} resource=${branch} id=${id} to="/branches" crumb="nav.branches" edits=${can(id === 'new' ? 'create-branches' : 'edit-branches')}
      view=${(/** @type {any} */ { name }) => ({
        title: name, side: html`<${Accounts} id=${Number(id)} />`,
        history: (/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/branches/{id}/history', { id, page }, { signal }),
      })} />`;
  }
  const create = can('create-branches') && html`<${Link} to="/branches/new" class="button primary"><${Icon} name="plus" size=${16} />${t('branch.new')}<//>`;
  return html`<${Page} title=${t('nav.branches')} note=${t('branch.note')} actions=${create} />
    <${Table} id="branches" table=${tables.branches} order="name_asc" to=${(/** @type {any} */ row) => `/branches/${idOf(row)}`} empty=${{ icon: 'building', title: t('branch.none'), action: create }} />`;
}

/** @param {{ id: number }} props */
function Accounts({ id }) {
  const loaded = useLoad((signal) => accountsOf(id, signal), [id]);
  const edits = can('edit-branches');
  const edit = async (/** @type {Account | null} */ one) => {
    if (await editRecord(account(id), one ? { id: one.id, name: one.bank_name } : {})) loaded.reload();
  };
  return html`<${Card} title=${t('accounts')} flush actions=${edits && html`<button type="button" class="button small" onClick=${() => edit(null)}><${Icon} name="plus" size=${14} />${t('add')}</button>`}>
    <${Loading} of=${loaded} lines=${2}>${(/** @type {Account[]} */ list) => (list.length === 0 ? html`<${Empty} icon="money" title=${t('accounts.none')} />` : html`<ul class="list">${list.map((one) => html`<li key=${one.id}>
      <div class="grow"><${Link} to=${`/branches/${id}/accounts/${one.id}`}><b>${one.bank_name}</b><//>
        <p class="faint">${one.account}</p><p class="faint">${[`${t('field.bik')} ${one.bik}`, one.comment].filter(Boolean).join(' · ')}</p></div>
      ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${one.account}`} onClick=${() => edit(one)}><${Icon} name="edit" size=${16} /></button>`}
    </li>`)}</ul>`)}<//>
  <//>`;
}

/** Integrations of a bank account: acquirer, cash register. @param {{ branchId: number, bankId: number }} props */
function AccountPage({ branchId, bankId }) {
  const loaded = useLoad(async (signal) => {
    const [{ branch: found }, accounts] = await Promise.all([get('/api/branches/{id}', { id: branchId }, { signal }), accountsOf(branchId, signal)]);
    return { branch: found, account: accounts.find(({ id }) => id === bankId) };
  }, [branchId, bankId]);
  return html`<${Loading} of=${loaded}>${(/** @type {any} */ { branch: found, account: one }) => html`
    <${Page} title=${one?.bank_name ?? t('error.missing')} note=${one?.account} crumbs=${[{ label: t('nav.branches'), to: '/branches' }, { label: found.name, to: `/branches/${branchId}` }]} />
    ${one && html`<div class="columns"><div><${Integrations} owner=${accountOwner(branchId, bankId)} edits=${can('edit-branches')} /></div></div>`}`}<//>`;
}
