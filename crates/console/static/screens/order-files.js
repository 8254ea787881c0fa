// @ts-check
// Files and ticket scans of an order.
import { get, post, remove, send } from '../lib/api.js';
import { confirm, focusMain } from '../lib/dialog.js';
import { dateTime, size } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { can } from '../lib/session.js';
import { textOf } from '../lib/table.js';
import { attempt, Badge, Card, download, Facts, Loading } from '../lib/ui.js';
import { Drop } from '../lib/drop.js';

/** @param {{ id: number }} props */
export function Files({ id }) {
  const loaded = useLoad(async (signal) => /** @type {any[]} */ (/** @type {any} */ (await get('/api/tables/orders/{id}/files', { id, per_page: 50 }, { signal })).files), [id]);
  const add = async (/** @type {File[]} */ files) => {
    for (const file of files) {
      const form = new FormData();
      form.append('file', file);
      await attempt(() => post('/api/orders/{id}/files', { id }, form), t('order.fileAdded'));
    }
    loaded.reload();
  };
  const fetchFile = (/** @type {any} */ row) => attempt(async () => {
    const { file } = await get('/api/files/{id}', { id: row.id });
    const answer = await send('GET', new URL(file.url, location.href).pathname, undefined);
    if (answer.blob) download(answer.blob, file.name);
  });
  const erase = async (/** @type {any} */ row) => {
    if (!(await confirm({ title: t('order.fileDelete'), text: textOf(row.name), confirm: t('delete'), danger: true }))) return;
    if (!(await attempt(() => remove('/api/files/{id}', { id: row.id }), t('deleted')))) return;
    loaded.reload();
    focusMain();
  };
  return html`<${Card} title=${t('order.files')}>
    <${Loading} of=${loaded} lines=${2}>${(/** @type {any[]} */ rows) => html`${rows.length === 0 && html`<p class="note">${t('order.filesNone')}</p>`}<ul class="plain">${rows.map((row) => html`<li key=${row.id} class="row">
      <${Icon} name="file" size=${16} /><button type="button" class="link grow ellipsis" disabled=${!can('view-files')} onClick=${() => fetchFile(row)}>${textOf(row.name)}</button>
      <span class="faint">${size(row.size)}</span>
      ${can('edit-files') && html`<button type="button" class="icon-button" aria-label=${`${t('delete')}: ${textOf(row.name)}`} onClick=${() => erase(row)}><${Icon} name="trash" size=${16} /></button>`}
    </li>`)}</ul>`}<//>
    ${can('edit-orders') && html`<${Drop} label=${t('order.fileAdd')} onFiles=${add} />`}
  <//>`;
}

/** @param {{ order: { id: number, redeemed_count: number, total_tickets: number, last_redeemed_at: string | null }, round: number }} props */
export function Tickets({ order, round }) {
  const loaded = useLoad((signal) => get('/api/orders/{id}/scans', { id: order.id, per_page: 20 }, { signal }), [order.id, round]);
  return html`<${Card} title=${t('order.tickets')}>
    <${Facts} rows=${[[t('order.redeemed'), `${order.redeemed_count} / ${order.total_tickets}`], [t('order.lastScan'), dateTime(order.last_redeemed_at)]]} />
    <${Loading} of=${loaded} lines=${2}>${(/** @type {any} */ { scans }) => html`<ul class="plain">${scans.map((/** @type {any} */ scan) => html`<li key=${scan.id} class="row">
      <${Badge} kind=${scan.outcome === 'admitted' ? 'good' : 'bad'}>${t(`scan.${scan.outcome}`)}<//>
      <span>${dateTime(scan.at)}</span> <span class="faint">${scan.shop?.name ?? ''} × ${scan.quantity}</span></li>`)}</ul>`}<//>
  <//>`;
}
