// Types of the API's answers by method and path, from the types made of docs/openapi.json.
import type { paths } from './api';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never;
type Success<R> = { [S in keyof R]: S extends 200 | 201 | 202 ? Json<R[S]> : never }[keyof R];

/** Paths that have the method. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

/** Body of a successful answer. */
export type Answered<P extends keyof paths, M extends Method> = paths[P] extends Record<M, { responses: infer R }> ? Success<R> : never;

export type User = Answered<'/api/user', 'get'>['user'];
