// @ts-check
// The address is the state: paths below /console/ choose the screen, the query string its filters.
import { html, store } from './html.js';
import { screenAt } from './sections.js';
import { can } from './session.js';

export const BASE = '/console';

/** @typedef {{ path: string, query: URLSearchParams }} Place */

/** @returns {Place} */
function here() {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
  return { path, query: new URLSearchParams(location.search) };
}

export const place = store(here());

/** @type {Set<() => boolean>} */
const guards = new Set();
/** Position in this page's history, to return to it when leaving is refused. */
let position = 0;

/** Keeps people from leaving unsaved typing. @param {() => boolean} dirty @returns {() => void} ends the guard */
export function guard(dirty) {
  guards.add(dirty);
  return () => void guards.delete(dirty);
}

/** The question asked before unsaved typing is left. @type {() => Promise<boolean>} */
let ask = () => Promise.resolve(true);
/** @param {() => Promise<boolean>} question */
export function askWith(question) {
  ask = question;
}

const dirty = () => [...guards].some((is) => is());

/** @param {Place} next */
function show(next) {
  place.set(next);
}

/** Goes to a path below the console, such as `/orders/12?tab=files`. @param {string} to @param {{ replace?: boolean, force?: boolean }} [how] */
export async function navigate(to, { replace = false, force = false } = {}) {
  const target = new URL(BASE + to, location.href);
  const leaves = target.pathname !== location.pathname;
  if (leaves && !force && dirty() && !(await ask())) return;
  if (replace) history.replaceState({ position }, '', target);
  else history.pushState({ position: ++position }, '', target);
  show(here());
  if (leaves && !replace) scrollTo(0, 0);
}

/**
 * Changes parameters of the query string. `null` removes one.
 * @param {Record<string, string | number | (string | number)[] | null | undefined>} changes
 * @param {{ push?: boolean }} [how]
 */
export function setQuery(changes, { push = false } = {}) {
  const { path, query } = here();
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    if (value === null || value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  void navigate(path + (text ? `?${text}` : ''), { replace: !push });
}

/** Begins to follow the address. */
export function follow() {
  history.replaceState({ position }, '', location.href);
  addEventListener('popstate', async (event) => {
    const to = Number(event.state?.position ?? 0);
    const leaves = here().path !== place.get().path;
    if (leaves && dirty()) {
      const step = position - to;
      history.go(step);
      await new Promise((done) => addEventListener('popstate', done, { once: true }));
      if (!(await ask())) return;
      guards.clear();
      history.go(-step);
      return;
    }
    position = to;
    show(here());
  });
  addEventListener('beforeunload', (event) => {
    if (dirty()) event.preventDefault();
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`) || link.hasAttribute('download')) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    void navigate(link.pathname.slice(BASE.length) + link.search);
  });
}

/** `true` unless the role may not open the screen of the address. @param {string} to */
const mayOpen = (to) => can(screenAt(to.split('?')[0] ?? '')?.screen.permission);

/** A link within the console. If the role may not open its screen, only its text is drawn. @param {{ to: string, class?: string, children?: any, [name: string]: unknown }} props */
export function Link({ to, children, ...rest }) {
  return mayOpen(to) ? html`<a href=${BASE + to} ...${rest}>${children}</a>` : html`<span>${children}</span>`;
}

/** Returns the screen's address for a link of the API such as `/api/orders/3`, if there is one. @param {string | null | undefined} link */
export function screenOf(link) {
  const parts = /^\/api\/(?:tables\/)?([a-z_]+)\/(\d+)$/.exec(link ?? '');
  const screens = /** @type {Record<string, string>} */ ({
    orders: '/orders', counterparties: '/customers', nomenclatures: '/items', inventories: '/stock', tasks: '/tasks',
    agents: '/agents', categories: '/categories', brands: '/brands',
    pages: '/pages', shops: '/shops', subscriptions: '/subscriptions',
    branches: '/branches', warehouses: '/warehouses',
  });
  const screen = parts?.[1] ? screens[parts[1]] : undefined;
  return screen && parts ? `${screen}/${parts[2]}` : null;
}
