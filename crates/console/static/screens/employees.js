// @ts-check
// Employees: the list, and one employee with role and history. `/employees/new` invites one.
import { get, post, put, read } from '../lib/api.js';
import { confirm, focusMain } from '../lib/dialog.js';
import { ago, phone } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad, useDebounced } from '../lib/load.js';
import { matching, RecordPage } from '../lib/record.js';
import { Link, navigate, place, setQuery } from '../lib/router.js';
import { can, user } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Badge, Card, Empty, Facts, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/users', 'get'>['users'][number]} Employee */

const PAGE = 50;

/** Roles that this employee may give to others: those whose permissions they hold. @returns {Promise<import('../lib/tables.js').Option[]>} */
async function grantable() {
  if (!can('view-roles')) return [];
  const { roles } = await get('/api/roles');
  return roles.filter(({ permissions }) => permissions.every(({ name }) => can(name))).map(({ id, name }) => ({ value: id, label: name }));
}

/** @param {Employee} one */
const nameOf = (one) => [one.last_name, one.first_name, one.middle_name].filter(Boolean).join(' ') || one.login;

/** `true` if it is the account of this session. @param {number} id */
const isOwn = (id) => id === user.get()?.id;

/** @param {string} id `new` for an invitation @returns {import('../lib/record.js').Resource} */
const resource = (id) => ({
  title: 'do.employeeNew', submit: 'employee.invite', note: 'employee.inviteText',
  fields: [
    { name: 'last_name', kind: 'text', required: true, max: 255 },
    { name: 'first_name', kind: 'text', required: true, max: 255 },
    { name: 'middle_name', kind: 'text', max: 255 },
    { name: 'login', kind: 'text', required: true, max: 100, locked: id !== 'new' },
    { name: 'email', kind: 'email', required: true, hint: 'employee.emailHint' },
    { name: 'role_id', kind: 'choice', required: true, options: grantable, locked: isOwn(Number(id)), when: () => id === 'new' || can('view-roles') },
    { name: 'phone', kind: 'phone' },
    { name: 'branch_id', kind: 'choice', options: options.branches, hint: 'employee.branchHint', when: () => can('view-branches') },
    { name: 'department_id', kind: 'choice', options: options.departments, when: () => can('view-departments') },
    { name: 'is_sick', kind: 'check', when: () => id !== 'new' },
  ],
  async read(number, settings) {
    const { body, etag } = await read('/api/users/{id}', { id: number }, settings);
    const one = body.user;
    return { record: { ...one, role_id: one.role.id, branch_id: one.branch?.id ?? null, department_id: one.department?.id ?? null }, etag };
  },
  create: async (values) => (await post('/api/users', {}, values)).user.id,
  update: (number, changes, settings) => put('/api/users/{id}', { id: number }, changes, settings),
});

/** @param {{ params: { id?: string } }} props */
export default function Employees({ params: { id } }) {
  if (!id) return html`<${EmployeeList} />`;
  return html`<${RecordPage} resource=${resource(id)} id=${id} to="/employees" crumb="nav.employees" edits=${can(id === 'new' ? 'create-users' : 'edit-users')} view=${view} />`;
}

/** @param {Employee} one @param {() => void} refresh @param {string | null} etag @returns {import('../lib/record.js').View} */
function view(one, refresh, etag) {
  const { id, login, is_banned: banned } = one;
  // Who has more permissions is changed by those who hold them.
  const within = one.permissions.every(({ name }) => can(name));
  const run = async (/** @type {'ban' | 'unban'} */ command) => {
    if (command === 'ban' && !await confirm({ title: t('employee.banAsk', { name: nameOf(one) }), text: t('employee.banText'), confirm: t('employee.ban'), danger: true })) return;
    await attempt(() => post(`/api/users/{id}/${command}`, { id }, {}, matching(etag)), t('saved'));
    refresh();
    focusMain();
  };
  const sendPassword = () => attempt(() => post('/api/send_password', {}, { login }, { anonymous: true }), t('employee.passwordSent', { email: one.email }));
  return {
    title: nameOf(one), badge: html`<${Badges} employee=${one} />`, readonly: !within, note: can('edit-users') && !within && t('employee.cannot'),
    actions: can('edit-users') && within && !isOwn(id) && html`
      ${!banned && html`<button type="button" class="button" onClick=${sendPassword}><${Icon} name="key" size=${16} />${t('signIn.forgotten')}</button>`}
      <button type="button" class="button" onClick=${() => run(banned ? 'unban' : 'ban')}>${t(banned ? 'employee.unban' : 'employee.ban')}</button>`,
    side: html`<${Card}><${Facts} rows=${[
      [t('field.role_id'), one.role.name], [t('field.branch_id'), one.branch?.name ?? t('employee.allBranches')],
      [t('column.last_activity_at'), one.last_activity_at ? ago(one.last_activity_at) : t('employee.never')], [t('column.creator'), one.creator?.name],
    ]} /><//>`,
    history: (page, signal) => get('/api/users/{id}/history', { id, page }, { signal }),
  };
}

/** @param {{ employee: Employee }} props */
function Badges({ employee: one }) {
  return html`${isOwn(one.id) && html` <${Badge} kind="info">${t('employee.you')}<//>`}
    ${one.is_banned && html` <${Badge} kind="bad">${t('employee.banned')}<//>`}${one.is_sick && html` <${Badge} kind="warn">${t('employee.sick')}<//>`}`;
}

function EmployeeList() {
  const { query } = place.use();
  const [text, setText] = useState(query.get('q') ?? '');
  const [pages, setPages] = useState(1);
  const sought = useDebounced(text.trim(), 180);
  const loaded = useLoad(async (signal) => {
    const answers = await Promise.all(Array.from({ length: pages }, (_, index) => get('/api/users', { query: sought, page: index + 1, per_page: PAGE }, { signal })));
    return { users: answers.flatMap(({ users }) => users), total: answers[0]?.usersCount ?? 0 };
  }, [sought, pages]);
  const type = (/** @type {string} */ value) => {
    setText(value);
    setPages(1);
    setQuery({ q: value.trim() });
  };
  useActions(can('create-users') ? [{ id: 'list-new', label: t('do.employeeNew'), icon: 'plus', keys: 'n', hidden: true, run: () => void navigate('/employees/new') }] : []);
  return html`<${Page} title=${t('nav.employees')} actions=${can('create-users') && html`<${Link} to="/employees/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.employeeNew')}<//>`} />
    <${Card} flush>
      <div class="filters"><div class="search-field"><${Icon} name="search" size=${16} />
        <input type="search" data-filter maxlength="255" aria-label=${t('table.search')} placeholder=${t('table.search')} value=${text} onInput=${(/** @type {any} */ e) => type(e.target.value)} /></div>
        ${can('view-roles') && html`<span class="grow" /><${Link} to="/roles">${t('nav.roles')}<//>`}</div>
      <${Loading} of=${loaded}>${(/** @type {{ users: Employee[], total: number }} */ { users, total }) => html`
        ${users.length === 0 && html`<${Empty} icon="search" title=${t('table.nothing')} />`}
        <ul class="list">${users.map((one) => html`<${Line} key=${one.id} employee=${one} />`)}</ul>
        ${users.length < total && users.length === pages * PAGE && html`<p class="row pager"><button type="button" class="link" onClick=${() => setPages(pages + 1)}>${t('more')}</button></p>`}`}<//>
    <//>`;
}

/** @param {{ employee: Employee }} props */
function Line({ employee: one }) {
  const note = [one.login, one.phone && phone(one.phone), one.branch?.name, one.department?.name].filter(Boolean).join(' · ');
  return html`<li><${Picture} url=${one.avatar?.url} size=${32} />
    <div class="grow"><${Link} to=${`/employees/${one.id}`}><b>${nameOf(one)}</b><//><${Badges} employee=${one} />
      <p class="faint">${note}</p>
      <p class="faint">${t('column.last_activity_at')}: ${one.last_activity_at ? ago(one.last_activity_at) : t('employee.never')}</p></div>
    <${Badge}>${one.role.name}<//></li>`;
}
