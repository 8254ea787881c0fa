// @ts-check
// Requests to the documented API. Writes carry an idempotency key, so they are repeated safely after a lost answer.
import { authorize, end, mark, renewed } from './session.js';

/** @typedef {Record<string, unknown>} Params path parameters by name; the others form the query string */
/** @typedef {{ signal?: AbortSignal, match?: string, key?: string, anonymous?: boolean }} Options */
/** @typedef {{ body: any, status: number, etag: string | null, blob: Blob | null, name: string | null }} Answer */

/** A refusal of the service, or a failure to reach it (`status` 0). */
export class ApiError extends Error {
  /** @param {number} status @param {any} body @param {string | null} requestId @param {number | null} retryAfter */
  constructor(status, body, requestId, retryAfter) {
    super(body?.error?.message ?? body?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = /** @type {string | null} */ (body?.error?.code ?? null);
    /** Messages by dotted path of the field. */
    this.fields = /** @type {Record<string, string[]>} */ (body?.errors ?? {});
    this.current = body?.current ?? null;
    this.body = body;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** Fills `{name}` in the path and appends the other parameters. @param {string} path @param {Params} params */
export function address(path, params = {}) {
  const used = new Set();
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    used.add(name);
    return encodeURIComponent(String(params[name]));
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (used.has(name) || value === undefined || value === null || value === '') continue;
    if (Array.isArray(value)) for (const one of value) query.append(`${name}[]`, String(one));
    else query.append(name, String(value));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

/** Seconds to wait before each repetition of a request without an answer. */
const PAUSES = [0.5, 2];
/** The longest `Retry-After` that is waited for without asking. */
const PATIENCE = 5;

/** @param {number} seconds @param {AbortSignal} [signal] @returns {Promise<void>} */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

/**
 * Sends a request and returns the answer. `401` waits for the employee to sign in again and repeats the request.
 * @param {string} method
 * @param {string} url
 * @param {unknown} body
 * @param {Options} options
 * @returns {Promise<Answer>}
 */
export async function send(method, url, body, options = {}) {
  const upload = body instanceof FormData;
  const key = method === 'GET' || upload ? null : options.key ?? crypto.randomUUID();
  for (let attempt = 0; ; attempt++) {
    const headers = new Headers({ Accept: 'application/json' });
    const session = mark();
    if (!options.anonymous) authorize(headers);
    if (key) headers.set('Idempotency-Key', key);
    if (options.match) headers.set('If-Match', options.match);
    if (body !== undefined && !upload) headers.set('Content-Type', 'application/json');
    /** @type {Response} */
    let response;
    try {
      response = await fetch(url, {
        method, headers, signal: options.signal ?? null, credentials: 'same-origin', cache: 'no-store',
        body: body === undefined ? null : upload ? body : JSON.stringify(body),
      });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      const wait = PAUSES[attempt];
      if (wait === undefined || upload) throw new ApiError(0, null, null, null);
      await pause(wait, options.signal);
      continue;
    }
    const requestId = response.headers.get('X-Request-ID');
    const seconds = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    const retryAfter = Number.isFinite(seconds) ? seconds : null;
    const json = /\bjson\b/.test(response.headers.get('Content-Type') ?? '');
    if (response.ok) {
      return {
        body: json ? await response.json() : null,
        blob: json ? null : await response.blob(),
        status: response.status,
        etag: response.headers.get('ETag'),
        name: fileName(response.headers.get('Content-Disposition')),
      };
    }
    const refusal = json ? await response.json() : null;
    if (response.status === 401 && !options.anonymous) {
      await renewed(session);
      continue;
    }
    const error = new ApiError(response.status, refusal, requestId, retryAfter);
    const passing = response.status === 429 || response.status === 503 || error.code === 'idempotency_in_progress';
    if (passing && !upload && attempt < PAUSES.length && (retryAfter ?? PATIENCE + 1) <= PATIENCE) {
      await pause(retryAfter ?? 1, options.signal);
      continue;
    }
    throw error;
  }
}

/** @param {string | null} disposition */
function fileName(disposition) {
  const star = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '');
  if (star?.[1]) return decodeURIComponent(star[1]);
  return /filename="([^"]*)"/i.exec(disposition ?? '')?.[1] ?? null;
}

/**
 * Reads a record.
 * @template {import('../types/shapes').PathsOf<'get'>} P
 * @param {P} path
 * @param {Params} [params]
 * @param {Options} [options]
 * @returns {Promise<import('../types/shapes').Answered<P, 'get'>>}
 */
export async function get(path, params, options) {
  return (await send('GET', address(path, params), undefined, options)).body;
}

/**
 * Reads a record with its version tag.
 * @template {import('../types/shapes').PathsOf<'get'>} P
 * @param {P} path
 * @param {Params} [params]
 * @param {Options} [options]
 * @returns {Promise<{ body: import('../types/shapes').Answered<P, 'get'>, etag: string | null }>}
 */
export const read = (path, params, options) => send('GET', address(path, params), undefined, options);

/**
 * Sends a `POST`. `body` may be a form with files.
 * @template {import('../types/shapes').PathsOf<'post'>} P
 * @param {P} path
 * @param {Params} params
 * @param {unknown} [body]
 * @param {Options} [options]
 * @returns {Promise<import('../types/shapes').Answered<P, 'post'>>}
 */
export async function post(path, params, body = {}, options) {
  return (await send('POST', address(path, params), body, options)).body;
}

/**
 * Changes a record; with `match` only the version that was read.
 * @template {import('../types/shapes').PathsOf<'put'>} P
 * @param {P} path
 * @param {Params} params
 * @param {unknown} body
 * @param {Options} [options]
 * @returns {Promise<import('../types/shapes').Answered<P, 'put'>>}
 */
export async function put(path, params, body, options) {
  return (await send('PUT', address(path, params), body, options)).body;
}

/**
 * Changes a record.
 * @template {import('../types/shapes').PathsOf<'patch'>} P
 * @param {P} path
 * @param {Params} params
 * @param {unknown} body
 * @param {Options} [options]
 * @returns {Promise<import('../types/shapes').Answered<P, 'patch'>>}
 */
export async function patch(path, params, body, options) {
  return (await send('PATCH', address(path, params), body, options)).body;
}

/**
 * Deletes a record.
 * @template {import('../types/shapes').PathsOf<'delete'>} P
 * @param {P} path
 * @param {Params} params
 * @param {Options} [options]
 * @returns {Promise<import('../types/shapes').Answered<P, 'delete'>>}
 */
export async function remove(path, params, options) {
  return (await send('DELETE', address(path, params), undefined, options)).body;
}

/** Ends the session at the service and in this page. */
export async function signOut() {
  await post('/api/user/logout', {}).catch(() => {});
  end();
}
