// @ts-check
// Keyboard shortcuts. Letters are taken from the position of the key, so they work with a Russian layout too.
import { recall, remember, store, useLayoutEffect, useRef } from './html.js';

/**
 * @typedef {object} Action
 * @property {string} id
 * @property {string} label
 * @property {string} [keys] such as `n`, `g o` or `ctrl+k`
 * @property {string} [icon]
 * @property {() => void} run
 * @property {boolean} [hidden] not listed in the palette
 * @property {string} [form] id of the form that it submits
 */

/** Actions of the screen, newest last. */
/** @type {Map<symbol, Action[]>} */
const layers = new Map();

/** `false` switches single keys off; combinations with Ctrl stay. */
export const singleKeys = store(recall('singleKeys', true));
/** @param {boolean} on */
export function setSingleKeys(on) {
  remember('singleKeys', on);
  singleKeys.set(on);
}

/** @returns {Action[]} the actions that can run now, those of the screen before those of the frame */
export const currentActions = () => [...layers.values()].sort((a, b) => Number(isFrame(a)) - Number(isFrame(b))).flat();

/** @param {Action[]} actions */
const isFrame = (actions) => actions.some((action) => action.id === 'palette');

/** Offers actions while the component is shown: their keys work and the palette lists them. @param {Action[]} actions */
export function useActions(actions) {
  const layer = useRef(Symbol('actions')).current;
  // Not while rendering: a component that is gone before its effects ran would stay here. A layer keeps its place when it is drawn again.
  useLayoutEffect(() => void layers.set(layer, actions));
  useLayoutEffect(() => () => void layers.delete(layer), []);
}

/** Returns the name of the key, letters by position. @param {KeyboardEvent} event */
export function keyName(event) {
  const letter = /^Key([A-Z])$/.exec(event.code)?.[1]?.toLowerCase();
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  const key = letter ?? (event.shiftKey ? event.key : digit ?? event.key);
  return key.length === 1 ? key.toLowerCase() : key;
}

/** `true` if the element takes typed text. @param {EventTarget | null} target */
export function typing(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit', 'file'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

let pending = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** `true` while the first key of a sequence such as `g o` waits for the second. */
export const inSequence = () => pending !== '';

/** @param {KeyboardEvent} event */
function listen(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const ctrl = event.ctrlKey || event.metaKey;
  const name = keyName(event);
  if (['Shift', 'Control', 'Meta', 'Alt'].includes(name)) return;
  if (!ctrl && (typing(event.target) || !singleKeys.get())) return;
  const dialog = document.querySelector('dialog[open]');
  const pressed = ctrl ? `ctrl+${name}` : pending ? `${pending} ${name}` : name;
  const actions = currentActions();
  const meant = actions.filter((action) => action.keys === pressed);
  // Of several forms, the one with the focus.
  const found = meant.find((action) => action.form && document.getElementById(action.form)?.contains(document.activeElement)) ?? meant[0];
  clearTimeout(timer);
  pending = '';
  if (dialog && !(found && ctrl)) return;
  if (found) {
    event.preventDefault();
    found.run();
  } else if (!ctrl && actions.some((action) => action.keys?.startsWith(`${pressed} `))) {
    pending = pressed;
    timer = setTimeout(() => (pending = ''), 1500);
  }
}

/** Begins to listen. */
export function listenToKeys() {
  document.addEventListener('keydown', listen);
}

/** Returns the keys as people read them: `Ctrl+K`, `G O`. @param {string} keys */
export function keysLabel(keys) {
  return keys.split('+').map((key) => key[0]?.toUpperCase() + key.slice(1)).join('+').split(' ')
    .map((key) => (key.length === 1 ? key.toUpperCase() : key)).join(' ');
}
