// @ts-check
// Files: uploaded here, or opened by number. The service has no list of files, so this one is of the session.
import { get, remove } from '../lib/api.js';
import { confirm, focusMain, toast } from '../lib/dialog.js';
import { Drop, PICTURE, upload } from '../lib/drop.js';
import { dateTime, size } from '../lib/format.js';
import { html, store, useId, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Card, Empty, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/files/{id}', 'get'>['file']} FileRecord */

/** Files of this session, newest first. */
const seen = store(/** @type {FileRecord[]} */ ([]));

/** @param {FileRecord[]} files */
const keep = (files) => seen.set([...files, ...seen.get().filter((one) => !files.some((file) => file.id === one.id))]);

export default function Files() {
  const files = seen.use();
  const types = useLoad(() => options.fileTypes(), []);
  const [type, setType] = useState(PICTURE);
  const [number, setNumber] = useState('');
  const id = useId('files');
  const add = async (/** @type {File[]} */ list) => {
    for (const file of list) await attempt(async () => keep([await upload(file, type)]), t('file.uploaded'));
  };
  const find = (/** @type {Event} */ event) => {
    event.preventDefault();
    void attempt(async () => keep([(await get('/api/files/{id}', { id: Number(number) })).file]));
  };
  const drop = async (/** @type {FileRecord} */ file) => {
    if (!await confirm({ title: t('record.delete', { name: file.name }), text: t('file.deleteText'), confirm: t('delete'), danger: true })) return;
    if (!await attempt(() => remove('/api/files/{id}', { id: file.id }), t('deleted'))) return;
    seen.set(seen.get().filter((one) => one.id !== file.id));
    focusMain();
  };
  const copy = (/** @type {string} */ url) => attempt(() => navigator.clipboard.writeText(url).then(() => void toast(t('copied'))));
  return html`<${Page} title=${t('nav.files')} note=${t('file.note')} />
    <div class="halves">
      ${can('create-files') && html`<${Card} title=${t('file.upload')}>
        <div class="field"><label for=${`${id}-type`}>${t('file.type')}</label><select id=${`${id}-type`} onChange=${(/** @type {any} */ e) => setType(Number(e.target.value))}>
          ${(types.data ?? []).map((one) => html`<option key=${one.value} value=${String(one.value)} selected=${one.value === type}>${one.label}</option>`)}</select></div>
        <${Drop} label=${t('file.upload')} onFiles=${add} /><//>`}
      <${Card} title=${t('file.find')}><form class="row" onSubmit=${find}>
        <input class="grow" type="number" min="1" required aria-label=${t('file.number')} placeholder=${t('file.number')} value=${number} onInput=${(/** @type {any} */ e) => setNumber(e.target.value)} />
        <button class="button"><${Icon} name="search" size=${16} />${t('file.open')}</button></form><//>
    </div>
    <${Card} title=${t('file.seen')} flush>
      ${files.length === 0 && html`<${Empty} icon="file" title=${t('file.none')} />`}
      <ul class="list">${files.map((file) => html`<li key=${file.id}><${Picture} url=${file.mime_type.startsWith('image/') ? file.url : null} size=${48} />
        <div class="grow"><b class="ellipsis">${file.name}</b><p class="faint">№ ${file.id} · ${file.mime_type} · ${size(file.size)}${file.width && ` · ${file.width} × ${file.height}`} · ${dateTime(file.created_at)}</p></div>
        <button type="button" class="icon-button" aria-label=${`${t('copy')}: ${file.name}`} title=${t('copy')} onClick=${() => copy(file.url)}><${Icon} name="copy" size=${16} /></button>
        ${can('edit-files') && html`<button type="button" class="icon-button" aria-label=${`${t('delete')}: ${file.name}`} title=${t('delete')} onClick=${() => drop(file)}><${Icon} name="trash" size=${16} /></button>`}</li>`)}</ul>
    <//>`;
}
