// @ts-check
// Loading what a screen shows. A late answer never replaces a newer one.
import { useEffect, useMemo, useRef, useState } from './html.js';

/**
 * @template T
 * @typedef {{ data: T | null, error: Error | null, loading: boolean, reload: () => void, set: (data: T) => void }} Loaded
 */

/** `true` if a request was given up on purpose. @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError';

/**
 * Loads when `keys` change. The request before is aborted; the data before stays until the new one is there.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} keys
 * @returns {Loaded<T>}
 */
export function useLoad(load, keys) {
  const [round, setRound] = useState(0);
  const [state, setState] = useState(/** @type {{ data: T | null, error: Error | null, loading: boolean }} */ (
    { data: null, error: null, loading: true }
  ));
  const sequence = useRef(0);
  const key = useMemo(() => JSON.stringify(keys), keys);
  const shown = useRef(key);
  useEffect(() => {
    const mine = ++sequence.current;
    const abort = new AbortController();
    const same = shown.current === key;
    shown.current = key;
    setState((before) => ({ data: before.data, error: same ? before.error : null, loading: true }));
    load(abort.signal).then(
      (data) => mine === sequence.current && setState({ data, error: null, loading: false }),
      (error) => mine === sequence.current && !isAbort(error)
        && setState((before) => ({ data: before.data, error, loading: false })),
    );
    return () => abort.abort();
  }, [key, round]);
  return {
    ...state,
    reload: () => setRound((n) => n + 1),
    set: (data) => setState({ data, error: null, loading: false }),
  };
}

/**
 * Returns `value` after it has rested for some milliseconds.
 * @template T
 * @param {T} value
 * @param {number} [rest]
 */
export function useDebounced(value, rest = 150) {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), rest);
    return () => clearTimeout(timer);
  }, [value, rest]);
  return debounced;
}

/** Reads all pages of a list. @template T @param {(page: number) => Promise<{ pagination: { last_page: number }, rows: T[] }>} load @returns {Promise<T[]>} */
export async function everything(load) {
  const all = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const { pagination, rows } = await load(page);
    last = pagination.last_page;
    all.push(...rows);
  }
  return all;
}

/** @type {Map<string, Promise<any>>} */
const lists = new Map();

/**
 * Loads a dictionary of the service once per session.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 */
export function once(name, load) {
  const known = lists.get(name);
  if (known) return known;
  const loading = load();
  lists.set(name, loading);
  loading.catch(() => lists.delete(name));
  return loading;
}

/** Forgets the dictionaries: of one name, or all. @param {string} [name] */
export function forget(name) {
  if (name) lists.delete(name);
  else lists.clear();
}
