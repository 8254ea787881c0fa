// @ts-check
// The rendering library, and the few helpers that every component needs.
import {
  Component, createContext, h, html, render, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState,
} from '../vendor/htm-preact.js';

export { Component, createContext, h, html, render, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState };

let lastId = 0;

/** Returns an id that is unique in the page and stable for the component. @param {string} [prefix] */
export function useId(prefix = 'id') {
  return useState(() => `${prefix}-${++lastId}`)[0];
}

/** Joins class names. @param {...(string | false | null | undefined)} names */
export function cx(...names) {
  return names.filter(Boolean).join(' ');
}

/**
 * A value that components share. `set` renders every component that uses it again.
 * @template T
 * @param {T} value
 */
export function store(value) {
  /** @type {Set<(value: T) => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    /** @param {T} next */
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    /** Returns the value and renders the component again when it changes. @returns {T} */
    use() {
      const [, render] = useState(0);
      useLayoutEffect(() => {
        const seen = value;
        const listener = () => render((/** @type {number} */ n) => n + 1);
        listeners.add(listener);
        if (seen !== value) listener();
        return () => void listeners.delete(listener);
      }, []);
      return value;
    },
  };
}

/**
 * Reads a value of this browser. Nothing secret is kept there.
 * @template T
 * @param {string} key
 * @param {T} fallback
 * @returns {T}
 */
export function recall(key, fallback) {
  try {
    const text = localStorage.getItem(`kontor.${key}`);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

/** Keeps a value in this browser. @param {string} key @param {unknown} value */
export function remember(key, value) {
  try {
    localStorage.setItem(`kontor.${key}`, JSON.stringify(value));
  } catch {
    // Storage is full or switched off: the value lasts as long as the page.
  }
}
