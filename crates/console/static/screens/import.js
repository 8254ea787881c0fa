// @ts-check
// Import wizard: drop a sheet, see what it would do, then run it as a job. Nothing is written before.
import { ApiError, get, post, put } from '../lib/api.js';
import { focusMain } from '../lib/dialog.js';
import { Drop } from '../lib/drop.js';
import { number } from '../lib/format.js';
import { html, useEffect, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { isAbort } from '../lib/load.js';
import { Link, place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { attempt, Badge, Card, Empty, Page, reason, Skeleton } from '../lib/ui.js';
import { columnText, JobRows, Problems, Rows } from './import-rows.js';
import { showJob } from './job.js';

/** @typedef {import('../lib/table.js').Row} Row */
/** @typedef {{ header: string, column: string | null }} Header */
/** @typedef {import('./import-rows.js').Problem} Problem */
/** @typedef {import('./import-rows.js').Preview} Preview */
/** What a dry run found. If it ran as a job, that has rows and errors. @typedef {{ columns: Header[], created: number, updated: number, unchanged: number, skipped: number, errors: Problem[], total: number, rows?: Preview[], job?: number }} Check */

const KINDS = {
  items: {
    path: /** @type {const} */ ('/api/nomenclatures/import'), job: 'nomenclatures_import', list: '/items', may: () => can('create-nomenclatures') && can('edit-nomenclatures'),
    columns: ['article', 'kontor_id', 'name', 'kind', 'type', 'category', 'brand', 'country', 'unit', 'vat', 'price', 'description', 'characteristics', 'tags', 'photos', 'wholesale',
      'pieces_per_pack', 'quantity_pack', 'is_subscription', 'billing_period_months', 'share_link'],
  },
  stock: { path: /** @type {const} */ ('/api/inventories/upload'), job: 'inventories_upload', list: '/stock', may: () => can('edit-inventories'), columns: ['article', 'kontor_id', 'warehouse', 'quantity', 'price'] },
};

export default function Import() {
  const kind = place.use().path.endsWith('/stock') ? 'stock' : 'items';
  const head = html`<${Page} title=${t(kind === 'stock' ? 'nav.importStock' : 'nav.importItems')} note=${t('import.note')} crumbs=${[{ label: t(`nav.${kind}`), to: KINDS[kind].list }]} />`;
  return KINDS[kind].may() ? html`${head}<${Wizard} key=${kind} kind=${kind} />` : html`${head}<${Empty} icon="key" title=${t('error.forbidden')} text=${t('error.403')} />`;
}

/** @param {{ kind: 'items' | 'stock' }} props */
function Wizard({ kind }) {
  const { path, columns, job: jobKind, list } = KINDS[kind];
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [keepEmpty, setKeepEmpty] = useState(true);
  const [partial, setPartial] = useState(false);
  const [remember, setRemember] = useState(false);
  const [mapping, setMapping] = useState(/** @type {Record<string, string | null> | null} */ (null));
  const [check, setCheck] = useState(/** @type {Check | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const title = t(kind === 'stock' ? 'nav.importStock' : 'nav.importItems');

  /** @param {Record<string, boolean>} flags */
  const formOf = (flags) => {
    const form = new FormData();
    for (const [name, on] of Object.entries({ ...flags, keep_empty: keepEmpty })) if (on) form.append(name, '1');
    if (mapping) form.append('columns', JSON.stringify(mapping));
    form.append('file', /** @type {File} */ (file));
    return form;
  };
  useEffect(() => {
    if (!file) return;
    const abort = new AbortController();
    const run = async () => {
      setBusy(true);
      setError(null);
      try {
        const answer = await post(path, {}, formOf({ dry_run: true, partial: true }), { signal: abort.signal });
        if (abort.signal.aborted) return;
        if ('job' in answer) {
          const job = await showJob(answer.job, t('import.checking'));
          if (job.status !== 'succeeded') return setFile(null);
          setCheck({ ...job, job: job.id, errors: [], total: job.errors_total });
        } else setCheck({ ...answer, total: answer.errors.length, rows: answer.rows ?? [] });
      } catch (failure) {
        if (isAbort(failure)) return;
        setError(failure);
        const body = failure instanceof ApiError ? failure.body : null;
        setCheck(body?.columns ? { columns: body.columns, created: 0, updated: 0, unchanged: 0, skipped: 0, errors: body.rows ?? [], total: body.rows_total ?? 0 } : null);
      } finally {
        if (!abort.signal.aborted) setBusy(false);
      }
    };
    void run();
    return () => abort.abort();
  }, [file, keepEmpty, mapping]);

  useEffect(() => {
    if (document.activeElement === document.body) focusMain();
  }, [file]);
  const again = () => {
    setFile(null);
    setCheck(null);
    setError(null);
    setMapping(null);
    setPartial(false);
  };
  const run = async () => {
    setBusy(true);
    await attempt(async () => {
      if (remember && mapping) {
        const saved = await get(`${path}/columns`);
        await put(`${path}/columns`, {}, { columns: { ...saved.columns, ...mapping } });
      }
      const answer = await post(path, {}, formOf({ async: true, partial }));
      const job = 'job' in answer ? await showJob(answer.job, title) : null;
      if (job?.status === 'succeeded') again();
    });
    setBusy(false);
    setRound((/** @type {number} */ n) => n + 1);
  };
  if (!file) {
    return html`<${Card} title=${t('import.choose')}><${Drop} single label=${t('import.drop')} accept=".xlsx,.csv" onFiles=${(/** @type {File[]} */ [one]) => setFile(one ?? null)} />
      <p class="note">${t(`import.columns.${kind}`)}</p><//><${Jobs} kind=${jobKind} round=${round} />`;
  }
  const changes = check ? check.created + check.updated : 0;
  const blocked = !check || Boolean(error) || changes === 0 || (check.total > 0 && !partial);
  return html`<${Card} title=${file.name} actions=${html`<button type="button" class="button small" disabled=${busy} onClick=${again}>${t('import.other')}</button>`}>
      ${kind === 'items' && html`<label class="check"><input type="checkbox" disabled=${busy} checked=${keepEmpty} onChange=${() => setKeepEmpty(!keepEmpty)} /> ${t('import.keepEmpty')}</label>`}
      ${error && html`<div class="form-problem" role="alert">${reason(error)}</div>`}
      ${!check && busy && html`<${Skeleton} lines=${4} />`}
      ${check && !error && html`<p role="status" aria-busy=${busy}><b>${t('import.found', { created: number(check.created), updated: number(check.updated), unchanged: number(check.unchanged), n: check.total })}</b></p>
        ${check.total > 0 && html`<label class="check"><input type="checkbox" checked=${partial} onChange=${() => setPartial(!partial)} /> ${t('import.partial')}</label>`}
        ${mapping && html`<label class="check"><input type="checkbox" checked=${remember} onChange=${() => setRemember(!remember)} /> ${t('import.remember')}</label>`}
        <div class="row"><button type="button" class="button primary" disabled=${blocked || busy} onClick=${run}><${Icon} name="check" size=${16} />${t('import.run', { n: changes })}</button>
          <${Link} to=${list} class="button">${t('cancel')}<//></div>`}
    <//>
    ${check && html`<${Columns} headers=${check.columns} known=${columns} busy=${busy} choose=${(/** @type {string} */ header, /** @type {string | null} */ column) => setMapping({
      ...Object.fromEntries(check.columns.map((one) => [one.header, one.column === column ? null : one.column])), [header]: column })} />
      ${check.job && html`<${JobRows} key=${check.job} id=${check.job} />`}
      ${check.errors.length > 0 && html`<${Problems} errors=${check.errors} total=${check.total} />`}
      ${check.rows && check.rows.length > 0 && html`<${Rows} rows=${check.rows} />`}`}`;
}

/** @param {{ headers: Header[], known: string[], busy: boolean, choose: (header: string, column: string | null) => void }} props */
function Columns({ headers, known, busy, choose }) {
  return html`<${Card} title=${t('import.columns')}><div class="form-fields">${headers.map(({ header, column }) => html`<label class="field" key=${header}><span>${header}</span>
    <select disabled=${busy} onChange=${(/** @type {any} */ e) => choose(header, e.target.value || null)}>
      <option value="" selected=${column === null}>${t('import.ignore')}</option>
      ${known.map((name) => html`<option key=${name} value=${name} selected=${name === column}>${columnText(name)}</option>`)}</select></label>`)}</div><//>`;
}

/** Imports of before, with their results. @param {{ kind: string, round: number }} props */
function Jobs({ kind, round }) {
  const fixed = useMemo(() => ({ kind: [kind] }), [kind]);
  const actions = useMemo(() => [{ key: 'o', label: t('import.show'), icon: 'info', run: (/** @type {Row} */ row) => void showJob(/** @type {any} */ (row), row.file_name ?? '', true) }], []);
  const cells = useMemo(() => ({
    kind: (/** @type {Row} */ row) => t(row.dry_run ? 'import.check' : 'import'),
    status: (/** @type {Row} */ row) => html`<${Badge} kind=${row.status === 'failed' ? 'bad' : row.status === 'succeeded' ? 'good' : 'plain'}>${t(`job.${row.status}`)}<//>`,
  }), []);
  return html`<h2>${t('import.before')}</h2><${Table} id="jobs" table=${tables.jobs} fixed=${fixed} actions=${actions} cells=${cells} round=${round} empty=${{ icon: 'file', title: t('import.none') }} />`;
}
