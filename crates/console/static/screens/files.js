// @ts-check
// Files of the project: the list, uploads, and a preview.
import { remove, send } from '../lib/api.js';
import { confirm, Dialog, focusMain, open, toast } from '../lib/dialog.js';
import { Drop, PICTURE, upload } from '../lib/drop.js';
import { dateTime, size } from '../lib/format.js';
import { html, useEffect, useId, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Table } from '../lib/table.js';
import { options, tables } from '../lib/tables.js';
import { attempt, Card, download, Facts, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/files', 'get'>['files'][number]} FileRecord */

/** Width of a preview, in pixels. The service makes smaller copies of pictures. */
const WIDTH = 640;

/** The content of a file. All but public pictures need the session. @param {FileRecord} file @param {string} [query] @param {AbortSignal} [signal] */
const contentOf = (file, query = '', signal) => send('GET', new URL(file.url, location.href).pathname + query, undefined, signal ? { signal } : {});

/** @type {Record<string, (row: any) => any>} */
const cells = {
  name: (row) => html`<${Picture} url=${row.file_type_id === PICTURE ? row.url : null} size=${28} /> ${row.name}`,
  size: (row) => size(row.size),
  order_id: (row) => row.order_id && html`<${Link} to=${`/orders/${row.order_id}`} tabindex="-1">№ ${row.order_id}<//>`,
};

export default function Files() {
  const types = useLoad(() => options.fileTypes(), []);
  const [type, setType] = useState(PICTURE);
  const [round, setRound] = useState(0);
  const id = useId('files');
  const again = () => setRound((/** @type {number} */ n) => n + 1);
  const add = async (/** @type {File[]} */ list) => {
    for (const file of list) await attempt(() => upload(file, type), t('file.uploaded'));
    again();
  };
  const actions = useMemo(() => [
    { key: 'v', label: t('file.view'), icon: 'image', run: (/** @type {any} */ row) => void open((close) => html`<${FileDialog} file=${row} close=${() => close(null)} />`) },
    { key: 'y', label: t('copy'), icon: 'copy', run: (/** @type {any} */ row) => void attempt(() => navigator.clipboard.writeText(row.url).then(() => void toast(t('copied')))) },
    ...can('edit-files') ? [{ key: 'd', label: t('delete'), icon: 'trash', run: async (/** @type {any} */ row) => {
      if (!await confirm({ title: t('record.delete', { name: row.name }), text: t('file.deleteText'), confirm: t('delete'), danger: true })) return;
      if (!await attempt(() => remove('/api/files/{id}', { id: row.id }), t('deleted'))) return;
      again();
      focusMain();
    } }] : [],
  ], []);
  return html`<${Page} title=${t('nav.files')} />
    ${can('create-files') && html`<${Card} title=${t('file.upload')}><div class="halves">
      <div class="field"><label for=${`${id}-type`}>${t('file.type')}</label><select id=${`${id}-type`} onChange=${(/** @type {any} */ e) => setType(Number(e.target.value))}>
        ${(types.data ?? []).map((one) => html`<option key=${one.value} value=${String(one.value)} selected=${one.value === type}>${one.label}</option>`)}</select></div>
      <${Drop} label=${t('file.upload')} onFiles=${add} /></div><//>`}
    <${Table} id="files" table=${tables.files} round=${round} cells=${cells} actions=${actions} empty=${{ icon: 'file', title: t('file.none') }} />`;
}

/** @param {{ file: FileRecord, close: () => void }} props */
function FileDialog({ file, close }) {
  const save = () => attempt(async () => {
    const { blob } = await contentOf(file);
    if (blob) download(blob, file.name);
  });
  return html`<${Dialog} title=${file.name} wide onClose=${close} actions=${html`<button type="button" class="button" onClick=${save}>${t('job.download')}</button>
      <button type="button" class="button primary" onClick=${close}>${t('close')}</button>`}>
    ${file.mime_type.startsWith('image/') && html`<${Preview} file=${file} />`}
    <${Facts} rows=${[
      [t('column.id'), file.id], [t('column.mime_type'), file.mime_type], [t('column.size'), size(file.size)], file.width && [t('file.pixels'), `${file.width} × ${file.height}`],
      [t('column.creator'), file.creator.name], [t('column.created_at'), dateTime(file.created_at)],
    ]} /><//>`;
}

/** @param {{ file: FileRecord }} props */
function Preview({ file }) {
  const loaded = useLoad(async (signal) => {
    const { blob } = await contentOf(file, `?w=${WIDTH}`, signal);
    return blob && URL.createObjectURL(blob);
  }, [file.id]);
  useEffect(() => () => { if (loaded.data) URL.revokeObjectURL(loaded.data); }, [loaded.data]);
  return html`<${Loading} of=${loaded} lines=${3}>${(/** @type {string} */ address) => html`<img class="shown-picture" src=${address} alt=${file.name} />`}<//>`;
}
