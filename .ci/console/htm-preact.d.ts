// Types of the vendored file: preact with hooks, and the tag of htm.
import type { VNode } from 'preact';

export { Component, createContext, h, render } from 'preact';
export {
  useContext, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useCallback, useState, useErrorBoundary,
} from 'preact/hooks';
export const html: (strings: TemplateStringsArray, ...values: any[]) => VNode<any>;
