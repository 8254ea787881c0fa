// @ts-check
// Small components that every screen uses: page head, states of loading, cards, badges, lists of facts.
import { ApiError } from './api.js';
import { toast } from './dialog.js';
import { cx, html, useEffect, useRef } from './html.js';
import { maybe, t } from './i18n.js';
import { Icon } from './icons.js';
import { isAbort } from './load.js';
import { Link } from './router.js';

/**
 * Head of a screen: breadcrumbs, title and the actions at the right.
 * @param {{ title: string, crumbs?: { label: string, to: string }[], badge?: any, actions?: any, note?: any }} props
 */
export function Page({ title, crumbs = [], badge, actions, note }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = `${title} · Kontor`;
  }, [title]);
  return html`<header class="page-head">
    ${crumbs.length > 0 && html`<nav aria-label=${t('breadcrumbs')} class="crumbs">
      ${crumbs.map((crumb) => html`<${Link} key=${crumb.to} to=${crumb.to}>${crumb.label}<//><${Icon} name="chevron" size=${14} />`)}
    </nav>`}
    <div class="page-title">
      <h1 ref=${heading} tabindex="-1">${title}</h1>
      ${badge}
      <div class="page-actions">${actions}</div>
    </div>
    ${note && html`<p class="note">${note}</p>`}
  </header>`;
}

/** @param {{ kind?: 'good' | 'warn' | 'bad' | 'info' | 'plain', children?: any }} props */
export const Badge = ({ kind = 'plain', children }) => html`<span class=${`badge ${kind}`}>${children}</span>`;

/** @param {{ title?: string, actions?: any, children?: any, class?: string, flush?: boolean }} props */
export function Card({ title, actions, children, class: className, flush }) {
  return html`<section class=${cx('card', flush && 'flush', className)} aria-label=${title}>
    ${title && html`<header class="card-head"><h2>${title}</h2>${actions && html`<div class="card-actions">${actions}</div>`}</header>`}
    <div class="card-body">${children}</div>
  </section>`;
}

/** Names and values. @param {{ rows: ([string, any] | null | false)[] }} props */
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows.map((row) => row && html`<div key=${row[0]}><dt>${row[0]}</dt><dd>${row[1] ?? '–'}</dd></div>`)}
  </dl>`;
}

/** @param {{ lines?: number }} props */
export function Skeleton({ lines = 6 }) {
  return html`<div class="skeleton" role="status" aria-label=${t('loading')}>
    ${Array.from({ length: lines }, (_, index) => html`<span key=${index} class=${`bar w${index % 4}`} />`)}
  </div>`;
}

/** @param {{ icon?: string, title: string, text?: string, children?: any }} props */
export function Empty({ icon = 'box', title, text, children }) {
  return html`<div class="empty"><span class="empty-icon"><${Icon} name=${icon} size=${26} /></span>
    <p class="empty-title">${title}</p>${text && html`<p>${text}</p>`}${children && html`<div class="row">${children}</div>`}</div>`;
}

/** Returns what went wrong and what to do, in words. @param {unknown} error */
export function reason(error) {
  if (!(error instanceof ApiError)) return t('error.unexpected');
  const known = error.code ? maybe(`error.${error.code}`) : null;
  if (known) return known;
  const seconds = error.retryAfter;
  if (error.status === 429 && seconds !== null) return t('error.wait', { n: seconds });
  if (error.status === 422 && Object.keys(error.fields).length) {
    return Object.entries(error.fields).map(([field, messages]) => (field === 'id' ? '' : `${maybe(`field.${field}`) ?? field}: `) + messages.join(', ')).join('. ');
  }
  const general = maybe(`error.${error.status >= 500 ? 500 : error.status}`);
  return [400, 409].includes(error.status) ? error.message : general ?? error.message;
}

/** Shows an error as a toast. @param {unknown} error */
export function complain(error) {
  if (!isAbort(error)) toast(reason(error), { kind: 'error' });
}

/** @param {{ error: Error, retry?: () => void }} props */
export function Failure({ error, retry }) {
  const known = error instanceof ApiError ? error : null;
  return html`<div class="empty failure" role="alert"><span class="empty-icon"><${Icon} name="alert" size=${26} /></span>
    <p class="empty-title">${known?.status === 404 ? t('error.missing') : t('error.title')}</p>
    <p>${reason(error)}</p>
    ${known?.requestId && html`<p class="faint">${t('error.request', { id: known.requestId })}</p>`}
    ${retry && known?.status !== 404 && html`<button type="button" class="button" onClick=${retry}><${Icon} name="refresh" />${t('retry')}</button>`}
  </div>`;
}

/**
 * Shows what was loaded, or its skeleton, or the error.
 * @template T
 * @param {{ of: import('./load.js').Loaded<T>, lines?: number, children: (data: T) => any }} props
 */
export function Loading({ of, lines, children }) {
  if (of.data !== null) return children(of.data);
  return of.error ? html`<${Failure} error=${of.error} retry=${of.reload} />` : html`<${Skeleton} lines=${lines} />`;
}

/**
 * Tabs that are links: the address keeps the choice.
 * @param {{ label: string, tabs: { to: string, label: string, count?: number | null, current: boolean }[] }} props
 */
export function Tabs({ label, tabs }) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map((tab) => html`<${Link} key=${tab.to} to=${tab.to} class="tab" aria-current=${tab.current ? 'page' : undefined}>
      ${tab.label}${tab.count != null && html` <span class="count">${tab.count}</span>`}<//>`)}
  </nav>`;
}

/**
 * A picture of the service itself. Pictures of other hosts are not loaded: the policy of the page forbids it.
 * @param {{ url?: string | null, alt?: string, size?: number }} props
 */
export function Picture({ url, alt = '', size = 40 }) {
  const own = ownPicture(url);
  return own
    ? html`<img class="picture" src=${own} alt=${alt} width=${size} height=${size} loading="lazy" />`
    : html`<span class="picture none" style=${{ width: `${size}px`, height: `${size}px` }}><${Icon} name="image" size=${Math.min(20, size / 2)} /></span>`;
}

/** Returns the address if this origin serves it. @param {string | null | undefined} url */
export function ownPicture(url) {
  if (!url) return null;
  const full = new URL(url, location.href);
  return full.origin === location.origin ? full.href : null;
}

/** Runs a write and shows its error as a toast. @param {() => Promise<unknown>} work @param {string} [done] @returns {Promise<boolean>} */
export async function attempt(work, done) {
  try {
    await work();
    if (done) toast(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** Hands a file to the person. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
