// @ts-check
// One component edits every record: fields with labels, errors at their fields, conflicts as a merge, no lost typing.
import { ApiError } from './api.js';
import { toast } from './dialog.js';
import { Field } from './fields.js';
import { cx, html, useEffect, useId, useRef, useState } from './html.js';
import { maybe, t } from './i18n.js';
import { useActions } from './keys.js';
import { isAbort } from './load.js';
import { guard } from './router.js';
import { reason } from './ui.js';

/** @typedef {Record<string, any>} Values */
/**
 * @typedef {object} FieldSpec
 * @property {string} name
 * @property {string} [label] text; without it the dictionary's `field.<name>`
 * @property {'text' | 'area' | 'html' | 'number' | 'money' | 'date' | 'datetime' | 'check' | 'choice' | 'picker' | 'phone' | 'email' | 'tags' | 'many' | 'picture'} kind
 * @property {boolean} [required]
 * @property {number} [max]
 * @property {number} [rows] height of an HTML field
 * @property {(markup: string, signal: AbortSignal) => Promise<string>} [clean] returns the HTML that customers get; the preview is shown beside the field
 * @property {number} [min]
 * @property {string} [hint] text, or its key
 * @property {() => Promise<import('./tables.js').Option[]>} [options]
 * @property {(query: string, signal: AbortSignal) => Promise<import('./picker.js').Choice[]>} [find]
 * @property {(values: Values) => boolean} [when] shows the field
 * @property {boolean} [wide]
 * @property {boolean} [locked] cannot be changed
 * @property {(value: any, values: Values) => string} [shown] text of a picker's value
 */

/** `true` if both values mean the same in a form. @param {any} a @param {any} b */
export const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** The values of the fields of a record. @param {FieldSpec[]} fields @param {Values} record @returns {Values} */
export function valuesOf(fields, record) {
  return Object.fromEntries(fields.map(({ name, kind }) => [name, record[name] ?? (kind === 'check' ? false : kind === 'tags' || kind === 'many' ? [] : null)]));
}

/**
 * @param {object} props
 * @param {FieldSpec[]} props.fields
 * @param {Values} props.record values at first
 * @param {(changes: Values, values: Values, match?: string) => Promise<unknown>} props.save writes the changes; with `match` only that version
 * @param {string | null} [props.etag] version of the record; `null` for a new one
 * @param {() => Promise<{ record: Values, etag: string | null, author?: string | null }>} [props.reread] reads the record again after a conflict
 * @param {string} [props.submit]
 * @param {() => void} [props.cancel]
 * @param {boolean} [props.readonly]
 * @param {any} [props.children] more below the fields; it may be a function of the values
 * @param {(values: Values) => void} [props.onValues]
 */
export function RecordForm({ fields, record, save, etag = null, reread, submit, cancel, readonly, children, onValues }) {
  const [base, setBase] = useState(() => valuesOf(fields, record));
  const [values, setValues] = useState(base);
  const [tag, setTag] = useState(etag);
  const [errors, setErrors] = useState(/** @type {Record<string, string[]>} */ ({}));
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const id = useId('form');
  const summary = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = fields.filter((field) => field.when?.(values) ?? true);
  const changed = shown.filter(({ name }) => !same(values[name], base[name])).map(({ name }) => name);
  const dirty = useRef(false);
  dirty.current = changed.length > 0 && !busy;
  useEffect(() => guard(() => dirty.current), []);
  useEffect(() => {
    const fresh = valuesOf(fields, record);
    setTag(etag);
    setBase(fresh);
    setValues((/** @type {Values} */ now) => Object.fromEntries(fields.map(({ name }) => [name, same(now[name], base[name]) ? fresh[name] : now[name]])));
  }, [record, etag]);
  useEffect(() => onValues?.(values), [values]);

  const change = (/** @type {string} */ name, /** @type {any} */ value) => {
    setValues((/** @type {Values} */ before) => ({ ...before, [name]: value }));
    setErrors((/** @type {Record<string, string[]>} */ before) => Object.fromEntries(Object.entries(before).filter(([key]) => key !== name && !key.startsWith(`${name}.`))));
  };
  /** @param {Values} wanted @param {string | null} version @param {Values} from */
  const write = async (wanted, version, from) => {
    const changes = Object.fromEntries(shown.filter(({ name }) => etag === null || !same(wanted[name], from[name])).map(({ name }) => [name, wanted[name]]));
    setBusy(true);
    setErrors({});
    setProblem('');
    dirty.current = false;
    try {
      await save(changes, wanted, version ?? undefined);
      setBase(wanted);
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof ApiError && error.status === 412 && reread) return await resolve(wanted, from);
      if (error instanceof ApiError && error.status === 422) setErrors(error.fields);
      setProblem(error instanceof ApiError && Object.keys(error.fields).length ? t('form.check') : reason(error));
      setTimeout(() => focusFirst(error), 0);
    } finally {
      setBusy(false);
    }
  };
  const focusFirst = (/** @type {unknown} */ error) => {
    const names = error instanceof ApiError ? Object.keys(error.fields).map((path) => path.split('.')[0]) : [];
    const first = shown.find(({ name }) => names.includes(name));
    const target = first ? document.getElementById(`${id}-${first.name}`) : summary.current;
    target?.focus();
  };
  /** Merges with the newer version and saves that. @param {Values} mine @param {Values} from */
  const resolve = async (mine, from) => {
    const [{ merge }, newer] = await Promise.all([import('./merge.js'), /** @type {NonNullable<typeof reread>} */ (reread)()]);
    const theirs = valuesOf(fields, newer.record);
    const merged = await merge({ fields: shown, base: from, mine, theirs, author: newer.author ?? null });
    setBase(theirs);
    setTag(newer.etag);
    if (!merged) return setProblem(t('merge.kept'));
    setValues(merged);
    if (shown.every(({ name }) => same(merged[name], theirs[name]))) return void toast(t('merge.taken'), { kind: 'info' });
    await write(merged, newer.etag, theirs);
  };
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!busy && !readonly) void write(values, tag, base);
  };
  useActions(readonly ? [] : [{ id: `${id}-save`, form: id, label: submit ?? t('save'), keys: 'ctrl+s', icon: 'check', run: () => {
    const form = document.getElementById(id);
    if (form instanceof HTMLFormElement) form.requestSubmit();
  } }]);
  const known = new Set(shown.map(({ name }) => name));
  const loose = Object.entries(errors).filter(([path]) => !known.has(path.split('.')[0] ?? ''));
  return html`<form id=${id} class="form" onSubmit=${onSubmit}>
    ${problem && html`<div class="form-problem" role="alert" tabindex="-1" ref=${summary}><p>${problem}</p>
      ${loose.map(([path, messages]) => html`<p key=${path}>${maybe(`field.${path}`) ?? path}: ${messages.join(', ')}</p>`)}</div>`}
    <fieldset disabled=${readonly} class="form-fields">
      ${shown.map((field) => html`<${Field} key=${field.name} id=${`${id}-${field.name}`} field=${field} value=${values[field.name]} values=${values}
        errors=${Object.entries(errors).filter(([path]) => path === field.name || path.startsWith(`${field.name}.`)).flatMap(([, messages]) => messages)}
        changed=${etag !== null && changed.includes(field.name)} onChange=${(/** @type {any} */ value) => change(field.name, value)} />`)}
    </fieldset>
    ${typeof children === 'function' ? children(values, change) : children}
    ${!readonly && html`<footer class=${cx('form-foot', changed.length > 0 && 'dirty')}>
      <button class="button primary" disabled=${busy || (etag !== null && changed.length === 0)}>${busy ? t('saving') : submit ?? t('save')}</button>
      ${cancel && html`<button type="button" class="button" onClick=${cancel}>${t('cancel')}</button>`}
      ${etag !== null && changed.length > 0 && html`<button type="button" class="link" onClick=${() => { setValues(base); setErrors({}); setProblem(''); }}>${t('form.discard')}</button>
        <span class="note">${t('form.changed', { n: changed.length })}</span>`}
    </footer>`}
  </form>`;
}
