// @ts-check
// First rows and errors of an import, as the wizard and the dialog of its job show them.
import { get } from '../lib/api.js';
import { html, useState } from '../lib/html.js';
import { maybe, t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Badge, Card, Loading } from '../lib/ui.js';

/** @typedef {{ row: number, column: string, reason: string }} Problem */
/** @typedef {{ row: number, action: string, article: string | null, warehouse?: string, fields: Record<string, any>, before: Record<string, any> }} Preview */

/** Errors that are read at once. */
const PAGE = 100;

/** @type {Record<string, 'good' | 'info' | 'bad' | 'plain'>} */
const COLOURS = { create: 'good', update: 'info', skip: 'bad' };

/** @param {string} column */
export const columnText = (column) => maybe(`import.column.${column}`) ?? maybe(`column.${column}`) ?? maybe(`field.${column}`) ?? column;

/** @param {{ errors: Problem[], total: number }} props */
export function Problems({ errors, total }) {
  return html`<${Card} title=${t('import.errors', { n: total })} flush><div class="table-scroll tall" tabindex="0" role="group" aria-label=${t('import.errors', { n: total })}><table>
    <thead><tr><th scope="col">${t('import.row')}</th><th scope="col">${t('import.column')}</th><th scope="col">${t('field.reason')}</th></tr></thead>
    <tbody>${errors.map((one, index) => html`<tr key=${index}><td>${one.row}</td><td>${one.column === '*' ? t('import.wholeRow') : columnText(one.column)}</td><td>${one.reason}</td></tr>`)}</tbody></table></div><//>`;
}

/** @param {{ rows: Preview[] }} props */
export function Rows({ rows }) {
  return html`<${Card} title=${t('import.first', { n: rows.length })} flush><div class="table-scroll" tabindex="0" role="group" aria-label=${t('import.first', { n: rows.length })}><table>
    <thead><tr><th scope="col">${t('import.row')}</th><th scope="col">${t('import.effect')}</th><th scope="col">${t('field.article')}</th><th scope="col">${t('import.values')}</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.row}><td>${row.row}</td><td><${Badge} kind=${COLOURS[row.action]}>${t(`import.action.${row.action}`)}<//></td>
      <td>${row.article ?? '–'}${row.warehouse && html`<div class="faint">${row.warehouse}</div>`}</td>
      <td><ul class="plain">${Object.entries(row.fields).map(([name, value]) => html`<li key=${name}>${columnText(name)}: ${name in row.before && html`<s>${row.before[name] || '–'}</s> → `}${value || '–'}</li>`)}</ul></td></tr>`)}</tbody></table></div><//>`;
}

/** Rows and errors of an import that ran as a job. @param {{ id: number }} props */
export function JobRows({ id }) {
  const [pages, setPages] = useState(1);
  const loaded = useLoad(async (signal) => {
    const [{ rows }, answers] = await Promise.all([
      get('/api/jobs/{id}/rows', { id }, { signal }),
      Promise.all(Array.from({ length: pages }, (_, index) => get('/api/jobs/{id}/row_errors', { id, page: index + 1, per_page: PAGE }, { signal }))),
    ]);
    return { rows: /** @type {Preview[]} */ (rows), errors: answers.flatMap(({ rowErrors }) => rowErrors), total: answers[0]?.rowErrorsCount ?? 0 };
  }, [id, pages]);
  return html`<${Loading} of=${loaded} lines=${3}>${(/** @type {{ rows: Preview[], errors: Problem[], total: number }} */ { rows, errors, total }) => html`
    ${errors.length > 0 && html`<${Problems} errors=${errors} total=${total} />`}
    ${errors.length < total && html`<p><button type="button" class="link" onClick=${() => setPages(pages + 1)}>${t('more')}</button></p>`}
    ${rows.length > 0 && html`<${Rows} rows=${rows} />`}`}<//>`;
}
