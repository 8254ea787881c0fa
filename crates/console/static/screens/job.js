// @ts-check
// An export or import that runs as a job: progress, and its file at the end.
import { get, post, send } from '../lib/api.js';
import { Dialog, open } from '../lib/dialog.js';
import { number } from '../lib/format.js';
import { html, useEffect, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { isAbort } from '../lib/load.js';
import { complain, download, Failure } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/jobs/{id}', 'get'>['job']} Job */

/**
 * Starts an export and shows its progress.
 * @param {'/api/orders/export' | '/api/inventories/export' | '/api/counterparties/export'} path
 * @param {string} title
 */
export async function startExport(path, title) {
  try {
    const { job } = await post(path, { format: 'xlsx' });
    await open((close) => html`<${JobDialog} first=${job} title=${title} close=${() => close(null)} />`);
  } catch (error) {
    complain(error);
  }
}

/** Seconds between two looks at a running job. */
const INTERVAL = 1;

/** @param {{ first: Job, title: string, close: () => void }} props */
export function JobDialog({ first, title, close }) {
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
  const save = async () => {
    try {
      const answer = await send('GET', `/api/jobs/${job.id}/file`, undefined);
      if (answer.blob) download(answer.blob, answer.name ?? job.file_name ?? `${job.kind}.xlsx`);
    } catch (failure) {
      complain(failure);
    }
  };
  const cancel = () => post('/api/jobs/{id}/cancel', { id: job.id }).then((answer) => setJob(answer.job), complain);
  return html`<${Dialog} title=${title} onClose=${close} actions=${html`
    ${!over && html`<button type="button" class="button" onClick=${cancel}>${t('job.cancel')}</button>`}
    <button type="button" class="button" onClick=${close}>${t('close')}</button>
    ${job.status === 'succeeded' && html`<button type="button" class="button primary" onClick=${save}>${t('job.download')}</button>`}`}>
    ${error ? html`<${Failure} error=${error} retry=${() => setError(null)} />` : html`
      <p role="status">${t(`job.${job.status}`)} ${job.total_rows !== null && t('job.rows', { done: number(job.done_rows), total: number(job.total_rows) })}</p>
      ${!over && html`<progress max=${job.total_rows ?? undefined} value=${job.total_rows === null ? undefined : job.done_rows} aria-label=${title} />`}
      ${job.message && html`<p class="note">${job.message}</p>`}`}
  <//>`;
}
