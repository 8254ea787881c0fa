// @ts-check
// The employee's session. This is the only module that knows the token; it lives in memory and ends with the page.
import { store } from './html.js';

/** @typedef {import('../types/shapes').User} User */
/** @typedef {{ user: User, token: string }} Session */

/** @type {string | null} */
let token = null;
/** @type {Set<string>} */
let permissions = new Set();

/** The employee, or `null` before sign-in. */
export const user = store(/** @type {User | null} */ (null));
/** `true` while the session has ended and the screen waits for the password. */
export const expired = store(false);

/** @type {(() => void)[]} */
let waiting = [];
/** @type {((error: Error) => void)[]} */
let rejecting = [];

/** Adds the token to the headers of a request. @param {Headers} headers */
export function authorize(headers) {
  if (token) headers.set('Authorization', `Bearer ${token}`);
}

/** @returns {string | null} a value that changes with the session */
export function mark() {
  return token;
}

/**
 * Begins a session: requests have the token from now on. `enter` shows the interface.
 * @param {User} found
 * @param {string} value
 */
export function begin(found, value) {
  token = value;
  permissions = new Set(found.permissions.map((permission) => permission.name));
  expired.set(false);
  const go = waiting;
  waiting = [];
  rejecting = [];
  for (const resume of go) resume();
}

/** Shows the interface to the employee. @param {User} found */
export function enter(found) {
  user.set(found);
}

/** Ends the session in this page. Requests that wait for a password are abandoned. */
export function end() {
  token = null;
  permissions = new Set();
  expired.set(false);
  const stop = rejecting;
  waiting = [];
  rejecting = [];
  for (const reject of stop) reject(new DOMException('The session has ended.', 'AbortError'));
  user.set(null);
}

/**
 * Waits until the employee has signed in again. The screen stays as it is.
 * @param {string | null} refused the mark of the session that was refused
 * @returns {Promise<void>}
 */
export function renewed(refused) {
  if (token !== refused && token !== null) return Promise.resolve();
  expired.set(true);
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    rejecting.push(reject);
  });
}

/** `true` if the role has this permission. Without a name, every employee may. @param {string | null} [permission] */
export function can(permission) {
  return !permission || permissions.has(permission);
}

/** @returns {boolean} */
export const signedIn = () => token !== null;
