// @ts-check
// Roles as a matrix: permissions of the service by role, changed together and saved role by role.
import { ApiError, get, put } from '../lib/api.js';
import { confirm, toast } from '../lib/dialog.js';
import { cx, html, useEffect, useRef, useState } from '../lib/html.js';
import { maybe, t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { crud } from '../lib/list.js';
import { useLoad } from '../lib/load.js';
import { grouped } from '../lib/permissions.js';
import { editRecord, matching } from '../lib/record.js';
import { guard } from '../lib/router.js';
import { can, user } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Card, Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/roles', 'get'>['roles'][number]} Role */
/** @typedef {Role['permissions'][number]} Permission */
/** @typedef {{ record: Role, etag: string | null }} Version */
/** @typedef {Record<number, number[]>} Drafts permissions by role, where they differ from the service's */

const VERBS = ['view', 'create', 'edit'];
const role = crud('/api/roles', '/api/roles/{id}', 'role', {
  title: 'role.new', removes: '/api/roles/{id}',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'text', max: 500, wide: true },
  ],
});
/** A new role may begin with the permissions of another. @type {typeof role} */
const newRole = {
  ...role,
  fields: [...role.fields, { name: 'copy_id', kind: 'choice', options: options.roles, wide: true }],
  create: async ({ copy_id: copy, ...values }) => {
    const copied = copy ? /** @type {Role} */ ((await role.read(copy, {})).record).permissions : [];
    return role.create({ ...values, permissions: copied.filter(({ name }) => can(name)).map(({ id }) => id) });
  },
};

/** The permission of a cell. @param {string} verb @param {string} resource */
const permissionAt = (verb, resource) => (resource.startsWith('approve-') && verb === 'edit' ? resource : `${verb}-${resource}`);

/** @param {Role} record */
const idsOf = (record) => record.permissions.map(({ id }) => id);

/** @param {AbortSignal} [signal] */
async function load(signal) {
  const how = signal ? { signal } : {};
  const [{ roles }, known] = await Promise.all([
    get('/api/roles', {}, how), can('view-permissions') ? get('/api/permissions', {}, how) : { permissions: user.get()?.permissions ?? [] },
  ]);
  const versions = /** @type {Version[]} */ (await Promise.all(roles.filter((one) => !one.is_owner).map(({ id }) => role.read(id, how))));
  const all = [...known.permissions, ...versions.flatMap(({ record }) => record.permissions)];
  return { versions, owners: roles.filter((one) => one.is_owner), byName: new Map(all.map((one) => [one.name, one])) };
}

/** Writes the permissions of a role. What others changed meanwhile is kept. @param {Version} version @param {number[]} chosen */
async function write({ record, etag }, chosen) {
  const before = idsOf(record);
  try {
    await put('/api/roles/{id}', { id: record.id }, { permissions: chosen }, matching(etag));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    const newer = /** @type {Version} */ (await role.read(record.id, {}));
    const merged = [...idsOf(newer.record).filter((id) => chosen.includes(id) || !before.includes(id)), ...chosen.filter((id) => !before.includes(id))];
    await put('/api/roles/{id}', { id: record.id }, { permissions: [...new Set(merged)] }, matching(newer.etag));
    toast(t('role.merged', { name: record.name }), { kind: 'info' });
  }
}

export default function Roles() {
  const loaded = useLoad(load, []);
  const [drafts, setDrafts] = useState(/** @type {Drafts} */ ({}));
  const [busy, setBusy] = useState(false);
  const changed = Object.keys(drafts).length;
  const dirty = useRef(false);
  dirty.current = changed > 0;
  useEffect(() => guard(() => dirty.current), []);
  const edit = async (/** @type {Promise<boolean>} */ work) => {
    if (await work) loaded.reload();
  };
  const save = async () => {
    const mine = user.get()?.role.id;
    if (mine && drafts[mine] && !await confirm({ title: t('role.ownAsk'), text: t('role.ownText'), confirm: t('save') })) return;
    setBusy(true);
    const left = { ...drafts };
    for (const version of loaded.data?.versions ?? []) {
      const chosen = drafts[version.record.id];
      if (chosen && await attempt(() => write(version, chosen), t('role.saved', { name: version.record.name }))) delete left[version.record.id];
    }
    await attempt(async () => loaded.set(await load()));
    setDrafts(left);
    setBusy(false);
  };
  const create = can('create-roles') && html`<button type="button" class="button primary" onClick=${() => edit(editRecord(newRole))}><${Icon} name="plus" size=${16} />${t('role.new')}</button>`;
  useActions([
    ...(can('create-roles') ? [{ id: 'role-new', label: t('role.new'), icon: 'plus', keys: 'n', run: () => void edit(editRecord(newRole)) }] : []),
    ...(changed ? [{ id: 'roles-save', label: t('save'), icon: 'check', keys: 'ctrl+s', run: () => void save() }] : []),
  ]);
  return html`<${Loading} of=${loaded}>${(/** @type {Awaited<ReturnType<typeof load>>} */ { versions, owners, byName }) => html`
    <${Page} title=${t('nav.roles')} actions=${create} note=${t('role.note', { names: owners.map(({ name }) => name).join(', ') })} />
    <${Card} flush>
      ${versions.length === 0 ? html`<${Empty} icon="approvals" title=${t('role.none')} text=${t('role.noneText')}>${create}<//>`
        : html`<${Matrix} versions=${versions} byName=${byName} drafts=${drafts} setDrafts=${setDrafts} edit=${(/** @type {Role} */ { id, name }) => edit(editRecord(role, { id, name }))} />`}
      ${changed > 0 && html`<footer class="form-foot dirty pager">
        <button type="button" class="button primary" disabled=${busy} onClick=${save}>${t(busy ? 'saving' : 'save')}</button>
        <button type="button" class="link" onClick=${() => setDrafts({})}>${t('form.discard')}</button>
        <span class="note">${t('role.changed', { n: changed })}</span></footer>`}
    <//>`}<//>`;
}

/** Check boxes with one stop of the Tab key; arrows move. @param {{ versions: Version[], byName: Map<string, Permission>, drafts: Drafts, setDrafts: (drafts: Drafts) => void, edit: (role: Role) => void }} props */
function Matrix({ versions, byName, drafts, setDrafts, edit }) {
  const [at, setAt] = useState('');
  // The only permission of a fourth verb has a row of its own.
  const rows = grouped([...byName.keys()]).flatMap(([resource]) => (byName.has(`approve-${resource}`) ? [resource, `approve-${resource}`] : [resource]));
  const columns = versions.flatMap(({ record }) => VERBS.map((verb) => ({ record, verb })));
  const open = versions.map(({ record }) => can('edit-roles') && record.permissions.every(({ name }) => can(name)));
  const free = (/** @type {number} */ column, /** @type {string} */ name) => Boolean(open[Math.floor(column / VERBS.length)]) && can(name);
  const cells = rows.flatMap((resource, row) => columns.map(({ verb }, column) => ({ key: `${row}-${column}`, column, name: permissionAt(verb, resource) })))
    .filter(({ name, column }) => byName.has(name) && free(column, name));
  const current = cells.some(({ key }) => key === at) ? at : cells[0]?.key;
  const toggle = (/** @type {Role} */ record, /** @type {number} */ id) => {
    const chosen = drafts[record.id] ?? idsOf(record);
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
    const { [record.id]: _, ...others } = drafts;
    const same = next.length === idsOf(record).length && next.every((one) => idsOf(record).includes(one));
    setDrafts(same ? others : { ...others, [record.id]: next });
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !(event.target instanceof HTMLInputElement) || event.altKey) return;
    event.preventDefault();
    let [row = 0, column = 0] = (event.target.dataset.at ?? '').split('-').map(Number);
    for (row += step[0] ?? 0, column += step[1] ?? 0; rows[row] && columns[column]; row += step[0] ?? 0, column += step[1] ?? 0) {
      const next = event.currentTarget instanceof HTMLElement ? event.currentTarget.querySelector(`[data-at="${row}-${column}"]:enabled`) : null;
      if (next instanceof HTMLElement) return next.focus();
    }
  };
  return html`<div class="table-scroll matrix-frame" role="region" aria-label=${t('nav.roles')} tabindex=${current ? undefined : 0}><table class="matrix" onKeyDown=${keys}>
    <caption class="sr-only">${t('role.keys')}</caption>
    <thead>
      <tr><td rowspan="2"></td>${versions.map(({ record }, index) => html`<th key=${record.id} scope="colgroup" colspan="3" class=${cx(drafts[record.id] && 'changed')} title=${record.description}>
        ${record.name}${open[index] && html` <button type="button" class="icon-button" aria-label=${`${t('edit')}: ${record.name}`} onClick=${() => edit(record)}><${Icon} name="edit" size=${14} /></button>`}</th>`)}</tr>
      <tr>${columns.map(({ record, verb }) => html`<th key=${`${record.id}-${verb}`} scope="col">${t(`verb.${verb}`)}</th>`)}</tr>
    </thead>
    <tbody>${rows.map((resource, row) => html`<tr key=${resource}><th scope="row">${maybe(`resource.${resource}`) ?? resource}</th>
      ${columns.map(({ record, verb }, column) => {
        const found = byName.get(permissionAt(verb, resource));
        const key = `${row}-${column}`;
        return html`<td key=${`${record.id}-${verb}`}>${found && html`<input type="checkbox" data-at=${key} tabindex=${key === current ? 0 : -1} disabled=${!free(column, found.name)}
          checked=${(drafts[record.id] ?? idsOf(record)).includes(found.id)} title=${found.name} onFocus=${() => setAt(key)} onChange=${() => toggle(record, found.id)}
          aria-label=${`${record.name}: ${maybe(`resource.${resource}`) ?? resource}: ${t(`verb.${verb}`)}`} />`}</td>`;
      })}</tr>`)}</tbody>
  </table></div>`;
}
