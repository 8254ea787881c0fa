// @ts-check
// Screens of records made of data: a resource has fields and writes; it is edited in a dialog or on a page of its own.
import { confirm, Dialog, focusMain, open, toast } from './dialog.js';
import { RecordForm } from './form.js';
import { History } from './history.js';
import { html, useEffect, useRef, useState } from './html.js';
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
 * @property {string} [submit] key of the button that creates
 * @property {string} [note] key of the text above a new record
 * @property {import('./form.js').FieldSpec[]} fields
 * @property {Values} [empty] values of a new record
 * @property {(id: number, options: Options) => Promise<Version>} read
 * @property {(values: Values) => Promise<number>} [create] returns the number of the new record
 * @property {(id: number, changes: Values, options: Options, values: Values) => Promise<unknown>} update
 * @property {(id: number, options: Options) => Promise<unknown>} [remove]
 * @property {string} [removeText] key of what deleting does
 */

const NOTHING = {};

/** @param {string | null | undefined} etag @returns {Options} */
export const matching = (etag) => (etag ? { match: etag } : {});

/** Takes any version: for writes that do not depend on what was read. Projects may require the header. */
export const ANY = { match: '*' };

/** @param {Values} values */
const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** Asks and deletes. @param {Resource} resource @param {number} id @param {string | null} etag @param {string} name */
async function drop(resource, id, etag, name) {
  if (!await confirm({ title: t('record.delete', { name }), text: t(resource.removeText ?? 'record.deleteText'), confirm: t('delete'), danger: true })) return false;
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
  const fresh = useRef({ record, etag: null }).current;
  const loaded = useLoad(async (signal) => (id === null ? fresh : resource.read(id, { signal })), [id]);
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const field = body.current?.querySelector('input, select, textarea');
    if (field instanceof HTMLElement && !body.current?.contains(document.activeElement)) field.focus();
  }, [loaded.data === null]);
  const save = async (/** @type {Values} */ changes, /** @type {Values} */ values, /** @type {string | undefined} */ match) => {
    if (id === null) await resource.create?.(filled(changes));
    else await resource.update(id, changes, matching(match), values);
    toast(t(id === null && !resource.submit ? 'created' : 'saved'));
    close(true);
  };
  const remove = async (/** @type {Version} */ { etag }) => {
    if (id === null || !await drop(resource, id, etag, name)) return;
    close(true);
    focusMain();
  };
  return html`<${Dialog} title=${name || t(resource.title)} onClose=${() => close(false)}>
    <div class="stack" ref=${body}><${Loading} of=${id === null ? { ...loaded, data: fresh } : loaded} lines=${3}>${(/** @type {Version} */ version) => html`
      <${RecordForm} fields=${resource.fields} record=${version.record} etag=${version.etag} save=${save} reread=${() => resource.read(Number(id), {})}
        submit=${t(id === null ? resource.submit ?? 'create' : 'save')} cancel=${() => close(false)} />
      ${id !== null && resource.remove && html`<p><button type="button" class="link danger" onClick=${() => remove(version)}>${t('delete')}</button></p>`}`}<//></div>
  <//>`;
}

/** What a page shows around the form. @typedef {{ title: string, note?: any, badge?: any, actions?: any, above?: any, below?: any, side?: any, readonly?: boolean, more?: (entry: import('./history.js').Entry) => any, history?: (page: number, signal: AbortSignal) => Promise<any> }} View */

/**
 * The page of a record. `new` as number creates one.
 * @param {object} props
 * @param {Resource} props.resource
 * @param {string} props.id
 * @param {string} props.to address of the list
 * @param {string} props.crumb key of the list's title
 * @param {boolean} props.edits
 * @param {string} [props.card] title of the form
 * @param {(record: any, refresh: () => void, etag: string | null) => View} props.view
 */
export function RecordPage({ resource, id, to, crumb, edits, card, view }) {
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
    toast(t(fresh && !resource.submit ? 'created' : 'saved'));
    if (fresh) await navigate(`${to}/${made}`, { force: true, replace: true });
    else refresh();
  };
  return html`<${Loading} of=${loaded}>${(/** @type {Version} */ { record, etag }) => {
    const { title, note, badge, actions, above, below, side, more, history, readonly } = fresh ? /** @type {View} */ ({ title: t(resource.title), note: resource.note && t(resource.note) }) : view(record, refresh, etag);
    const writes = edits && !readonly;
    const remove = async () => {
      if (await drop(resource, number, etag, title)) await navigate(to, { force: true });
    };
    return html`<${Page} title=${title} note=${note} badge=${badge} crumbs=${[{ label: t(crumb), to }]} actions=${html`${!fresh && writes && resource.remove
        && html`<button type="button" class="button" onClick=${remove}><${Icon} name="trash" size=${16} />${t('delete')}</button>`}${actions}`} />
      <div class=${side ? 'columns' : 'whole'}>
        <div>${above}
          <${Card} title=${fresh ? undefined : card}><${RecordForm} fields=${resource.fields} record=${record} etag=${etag} save=${save} reread=${() => resource.read(number, {})}
            readonly=${!writes} ...${fresh ? { submit: t(resource.submit ?? 'create'), cancel: () => navigate(to) } : {}} /><//>
          ${below}${history && html`<${History} round=${round} load=${history} more=${more} />`}</div>
        ${side && html`<div>${side}</div>`}
      </div>`;
  }}<//>`;
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
