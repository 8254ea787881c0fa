// @ts-check
// Screens of records made of data: a resource has fields and writes; it is edited in a dialog or on a page of its own.
import { confirm, Dialog, open, toast } from './dialog.js';
import { RecordForm } from './form.js';
import { History } from './history.js';
import { html, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { navigate, place } from './router.js';
import { options } from './tables.js';
import { attempt, Card, Empty, Loading, Page, Tabs } from './ui.js';

/** @typedef {Record<string, any>} Values */
/** @typedef {{ match?: string, signal?: AbortSignal }} Options */
/** @typedef {{ record: Values, etag: string | null }} Version an empty tag if the service gives none */
/**
 * @typedef {object} Resource
 * @property {string} title key of the title of a new record
 * @property {import('./form.js').FieldSpec[]} fields
 * @property {Values} [empty] values of a new record
 * @property {(id: number, options: Options) => Promise<Version>} read
 * @property {(values: Values) => Promise<number>} [create] returns the number of the new record
 * @property {(id: number, changes: Values, options: Options, values: Values) => Promise<unknown>} update
 * @property {(id: number, options: Options) => Promise<unknown>} [remove]
 */

const NOTHING = {};

/** @param {string | null | undefined} etag @returns {Options} */
export const matching = (etag) => (etag ? { match: etag } : {});

/** @param {Values} values */
const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** Asks and deletes. @param {Resource} resource @param {number} id @param {string | null} etag @param {string} name */
async function drop(resource, id, etag, name) {
  if (!await confirm({ title: t('record.delete', { name }), text: t('record.deleteText'), confirm: t('delete'), danger: true })) return false;
  return attempt(() => /** @type {NonNullable<Resource['remove']>} */ (resource.remove)(id, matching(etag)), t('deleted'));
}

/**
 * Edits a record in a dialog, or creates one without `id`. Resolves with `true` after a write.
 * @param {Resource} resource
 * @param {{ id?: number | null, name?: string, record?: Values }} [what] `record` has the values of a new one
 * @returns {Promise<boolean>}
 */
export const editRecord = (resource, { id = null, name = '', record = resource.empty ?? NOTHING } = {}) => open((close) => html`<${RecordDialog} resource=${resource} id=${id} name=${name} record=${record} close=${close} />`);

/** @param {{ resource: Resource, id: number | null, name: string, record: Values, close: (done: boolean) => void }} props */
function RecordDialog({ resource, id, name, record, close }) {
  const loaded = useLoad(async (signal) => (id === null ? { record, etag: null } : resource.read(id, { signal })), [id]);
  const save = async (/** @type {Values} */ changes, /** @type {Values} */ values, /** @type {string | undefined} */ match) => {
    if (id === null) await resource.create?.(filled(changes));
    else await resource.update(id, changes, matching(match), values);
    toast(t(id === null ? 'created' : 'saved'));
    close(true);
  };
  const remove = async (/** @type {Version} */ { etag }) => {
    if (id !== null && await drop(resource, id, etag, name)) close(true);
  };
  return html`<${Dialog} title=${name || t(resource.title)} onClose=${() => close(false)}>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {Version} */ version) => html`
      <${RecordForm} fields=${resource.fields} record=${version.record} etag=${version.etag} save=${save} reread=${() => resource.read(Number(id), {})}
        submit=${t(id === null ? 'create' : 'save')} cancel=${() => close(false)} />
      ${id !== null && resource.remove && html`<p><button type="button" class="link danger" onClick=${() => remove(version)}>${t('delete')}</button></p>`}`}<//>
  <//>`;
}

/**
 * The page of a record. `new` as number creates one.
 * @param {object} props
 * @param {Resource} props.resource
 * @param {string} props.id
 * @param {string} props.to address of the list
 * @param {string} props.crumb key of the list's title
 * @param {boolean} props.edits
 * @param {string} [props.name] field with the record's name
 * @param {(page: number, signal: AbortSignal) => Promise<any>} [props.history]
 * @param {(version: Version, refresh: () => void) => any} [props.actions] in the head
 * @param {(version: Version, refresh: () => void) => any} [props.above] over the form
 * @param {(version: Version, refresh: () => void) => any} [props.side] beside the form
 */
export function RecordPage({ resource, id, to, crumb, edits, name = 'name', history, actions, above, side }) {
  const fresh = id === 'new';
  const number = Number(id);
  const [round, setRound] = useState(0);
  const loaded = useLoad(async (signal) => (fresh ? { record: resource.empty ?? NOTHING, etag: null } : resource.read(number, { signal })), [id]);
  const refresh = () => {
    loaded.reload();
    setRound((/** @type {number} */ n) => n + 1);
  };
  const save = async (/** @type {Values} */ changes, /** @type {Values} */ values, /** @type {string | undefined} */ match) => {
    const made = fresh ? await resource.create?.(filled(changes)) : await resource.update(number, changes, matching(match), values);
    toast(t(fresh ? 'created' : 'saved'));
    if (fresh) await navigate(`${to}/${made}`, { force: true, replace: true });
    else refresh();
  };
  const remove = async (/** @type {Version} */ { record, etag }) => {
    if (await drop(resource, number, etag, record[name])) await navigate(to, { force: true });
  };
  return html`<${Loading} of=${loaded}>${(/** @type {Version} */ version) => html`
    <${Page} title=${fresh ? t(resource.title) : version.record[name]} crumbs=${[{ label: t(crumb), to }]} actions=${!fresh && html`${actions?.(version, refresh)}
      ${edits && resource.remove && html`<button type="button" class="button" onClick=${() => remove(version)}><${Icon} name="trash" size=${16} />${t('delete')}</button>`}`} />
    <div class=${!fresh && side ? 'columns' : undefined}>
      <div>${!fresh && above?.(version, refresh)}
        <${Card}><${RecordForm} fields=${resource.fields} record=${version.record} etag=${version.etag} save=${save} reread=${() => resource.read(number, {})}
          readonly=${!edits} ...${fresh ? { submit: t('create'), cancel: () => navigate(to) } : {}} /><//>
        ${!fresh && history && html`<${History} round=${round} load=${history} />`}</div>
      ${!fresh && side && html`<div>${side(version, refresh)}</div>`}
    </div>`}<//>`;
}

/** Lets people choose an application, and draws its part. @param {{ base: string, children?: (id: number) => any }} props `base` is the address of the screen */
export function Applications({ base, children }) {
  const { query } = place.use();
  const loaded = useLoad(() => options.applications(), []);
  return html`<${Loading} of=${loaded}>${(/** @type {import('./tables.js').Option[]} */ list) => {
    const chosen = Number(query.get('application') ?? list[0]?.value);
    if (!list.length) return html`<${Empty} icon="key" title=${t('application.none')} text=${t('application.noneText')} />`;
    return html`${list.length > 1 && html`<${Tabs} label=${t('column.application')} tabs=${list.map(({ value, label }) => ({ to: `${base}?application=${value}`, label, current: value === chosen }))} />`}
      ${children?.(chosen)}`;
  }}<//>`;
}
