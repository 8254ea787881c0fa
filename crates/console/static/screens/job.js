// @ts-check
// An export or import that runs as a job: progress, and its file at the end.
import { get, post, send } from '../lib/api.js';
import { Dialog, open } from '../lib/dialog.js';
import { number } from '../lib/format.js';
import { html, useEffect, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { isAbort } from '../lib/load.js';
import { attempt, complain, download, Facts, Failure } from '../lib/ui.js';
import { JobRows } from './import-rows.js';

/** @typedef {import('../types/shapes').Answered<'/api/jobs/{id}', 'get'>['job']} Job */

/**
 * Starts an export and shows its progress.
 * @param {'/api/orders/export' | '/api/inventories/export' | '/api/counterparties/export'} path
 * @param {string} title
 */
export async function startExport(path, title) {
  try {
    const { job } = await post(path, { format: 'xlsx' });
    await showJob(job, title);
  } catch (error) {
    complain(error);
  }
}

/** Shows a job until the dialog is closed; resolves with the job as it is then. @param {Job} job @param {string} title @param {boolean} [rows] shows rows and errors of an import @returns {Promise<Job>} */
export const showJob = (job, title, rows = false) => open((close) => html`<${JobDialog} first=${job} title=${title} rows=${rows} close=${close} />`);

/** Numbers of an import that are shown. */
const COUNTS = /** @type {const} */ (['created', 'updated', 'unchanged', 'skipped']);

/** Seconds between two looks at a running job. */
const INTERVAL = 1;

/** @param {{ first: Job, title: string, rows: boolean, close: (job: Job) => void }} props */
function JobDialog({ first, title, rows, close }) {
  const [job, setJob] = useState(first);
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const over = ['succeeded', 'failed', 'canceled'].includes(job.status);
  useEffect(() => {
    if (over || error) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      get('/api/jobs/{id}', { id: job.id }, { signal: abort.signal }).then((answer) => setJob(answer.job), (failure) => !isAbort(failure) && setError(failure));
    }, INTERVAL * 1000);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [job, error]);
  const exported = job.kind.endsWith('_export');
  /** @param {'file' | 'errors'} what */
  const save = (what) => attempt(async () => {
    const answer = await send('GET', `/api/jobs/${job.id}/${what}`, undefined);
    if (answer.blob) download(answer.blob, answer.name ?? `${job.kind}-${what}.xlsx`);
  });
  const cancel = () => post('/api/jobs/{id}/cancel', { id: job.id }).then((answer) => setJob(answer.job), complain);
  return html`<${Dialog} title=${title} wide=${rows} onClose=${() => close(job)} actions=${html`
    ${!over && html`<button type="button" class="button" onClick=${cancel}>${t('job.cancel')}</button>`}
    <button type="button" class="button" onClick=${() => close(job)}>${t('close')}</button>
    ${job.errors_total > 0 && over && html`<button type="button" class="button primary" onClick=${() => save('errors')}>${t('job.errorSheet')}</button>`}
    ${exported && job.status === 'succeeded' && html`<button type="button" class="button primary" onClick=${() => save('file')}>${t('job.download')}</button>`}`}>
    ${error ? html`<${Failure} error=${error} retry=${() => setError(null)} />` : html`
      <p role="status">${t(`job.${job.status}`)} ${job.total_rows !== null && t('job.rows', { done: number(job.done_rows), total: number(job.total_rows) })}</p>
      ${!over && html`<progress max=${job.total_rows ?? undefined} value=${job.total_rows === null ? undefined : job.done_rows} aria-label=${title} />`}
      ${job.message && html`<p class="note">${job.message}</p>`}
      ${!exported && over && html`<${Facts} rows=${[...COUNTS.map((name) => [t(`job.count.${name}`), number(job[name])]), [t('column.errors_total'), number(job.errors_total)]]} />`}
      ${rows && !exported && over && html`<${JobRows} id=${job.id} />`}`}
  <//>`;
}
