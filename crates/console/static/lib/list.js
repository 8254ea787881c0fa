// @ts-check
// Lists that the service answers whole, resources with the usual addresses, and dialogs that create.
import { post, put, read, remove } from './api.js';
import { Dialog, open, toast } from './dialog.js';
import { RecordForm } from './form.js';
import { html, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { useActions } from './keys.js';
import { forget, useLoad } from './load.js';
import { Card, Empty, Loading, Page } from './ui.js';

/** @typedef {Record<string, any>} Values */
/** @typedef {import('./record.js').Resource} Resource */
/** @template {'get' | 'post' | 'put' | 'delete'} M @typedef {import('../types/shapes').PathsOf<M>} PathsOf */

/**
 * A resource with the usual addresses: `POST` of the list, `GET`, `PUT` and `DELETE` of one.
 * @param {PathsOf<'post'>} list
 * @param {PathsOf<'get'> & PathsOf<'put'>} one
 * @param {string} root key of the record in the answers
 * @param {Pick<Resource, 'title' | 'fields' | 'empty' | 'removeText'> & { shape?: (record: any) => Values, removes?: PathsOf<'delete'> }} more
 * @returns {Resource & Required<Pick<Resource, 'create'>>}
 */
export function crud(list, one, root, { shape = (record) => record, removes, ...rest }) {
  return {
    ...rest,
    read: async (id, options) => {
      const { body, etag } = await read(one, { id }, options);
      return { record: shape(/** @type {any} */ (body)[root]), etag };
    },
    create: async (values) => {
      const answer = /** @type {any} */ (await post(list, {}, values));
      forget(list);
      return answer[root].id;
    },
    update: (id, changes, options) => put(one, { id }, changes, options).then(() => forget(list)),
    ...(removes ? { remove: (/** @type {number} */ id, /** @type {any} */ options) => remove(removes, { id }, options).then(() => forget(list)) } : {}),
  };
}

/**
 * A list with search. With `title` it is a whole screen.
 * @param {object} props
 * @param {string} [props.title]
 * @param {string} [props.note]
 * @param {(signal: AbortSignal) => Promise<any[]>} props.load
 * @param {(row: any) => any} props.row draws the content before the buttons
 * @param {{ label: string, run: () => Promise<boolean> } | false} [props.create] resolves with `true` if something changed
 * @param {((row: any) => Promise<boolean>) | false} [props.edit]
 * @param {string} props.icon
 * @param {{ title: string, text?: string }} props.empty
 */
export function RecordList({ title, note, load, row, create, edit, icon, empty }) {
  const loaded = useLoad(load, []);
  const [text, setText] = useState('');
  const run = async (/** @type {Promise<boolean>} */ work) => {
    if (await work) loaded.reload();
  };
  useActions(create ? [{ id: 'list-new', label: create.label, icon: 'plus', keys: 'n', run: () => void run(create.run()) }] : []);
  const button = create && html`<button type="button" class="button primary" onClick=${() => run(create.run())}><${Icon} name="plus" size=${16} />${create.label}</button>`;
  const query = text.trim().toLowerCase();
  return html`${title && html`<${Page} title=${title} note=${note} actions=${button} />`}
    <${Card} flush>
      <${Loading} of=${loaded}>${(/** @type {any[]} */ rows) => {
        const shown = rows.filter((one) => [one.name, one.description, one.url].some((value) => (value ?? '').toLowerCase().includes(query)));
        return html`<div class="filters"><div class="search-field"><${Icon} name="search" size=${16} />
            <input type="search" data-filter aria-label=${t('table.search')} placeholder=${t('table.search')} value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></div>
            ${!title && html`<span class="grow" />${button}`}</div>
          ${rows.length === 0 && html`<${Empty} icon=${icon} title=${empty.title} text=${empty.text}>${title && button}<//>`}
          ${rows.length > 0 && shown.length === 0 && html`<${Empty} icon="search" title=${t('table.nothing')} />`}
          <ul class="list">${shown.map((one) => html`<li key=${one.id}>${row(one)}
            ${edit && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${one.name ?? one.id}`} onClick=${() => run(edit(one))}><${Icon} name="edit" size=${16} /></button>`}
          </li>`)}</ul>`;
      }}<//>
    <//>`;
}

/**
 * Asks for the values of something new. Resolves with the result of `create`, or `null`.
 * @template T
 * @param {{ title: string, fields: import('./form.js').FieldSpec[], empty?: Values, create: (values: Values) => Promise<T> }} what
 * @returns {Promise<T | null>}
 */
export function createInDialog({ title, fields, empty = {}, create }) {
  return open((close) => {
    const save = async (/** @type {Values} */ values) => close(await create(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))));
    return html`<${Dialog} title=${title} onClose=${() => close(null)}>
      <${RecordForm} fields=${fields} record=${empty} save=${save} submit=${t('create')} cancel=${() => close(null)} /><//>`;
  });
}

/** Shows a secret that the service returns once. Only its button closes the dialog. @param {string} title @param {string} value */
export function showSecret(title, value) {
  const copy = () => navigator.clipboard.writeText(value).then(() => toast(t('copied')), () => {});
  return open((/** @type {(seen: true) => void} */ close) => html`<${Dialog} title=${title} locked onClose=${() => {}} actions=${html`
      <button type="button" class="button primary" onClick=${() => close(true)}>${t('secret.kept')}</button>`}>
    <p>${t('secret.once')}</p>
    <div class="secret"><code>${value}</code><button type="button" class="button small" onClick=${copy}><${Icon} name="copy" size=${14} />${t('copy')}</button></div>
  <//>`);
}
