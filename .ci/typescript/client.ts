// What a shop does with the generated types. It is compiled, never run.
import type { operations, paths, webhooks } from "./api";

type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Answer<Id extends keyof operations, Status extends number> =
  Status extends keyof operations[Id]["responses"] ? Json<operations[Id]["responses"][Status]> : never;

// Both surfaces have an operation of this kind; each keeps its own id and its own shape.
type CustomerLogin = Json<NonNullable<operations["counterparty_log_in"]["requestBody"]>>;
type StaffLogin = Json<NonNullable<operations["log_in"]["requestBody"]>>;
export const customer: CustomerLogin = { phone: "79001234567", password: "123456" };
export const staff: StaffLogin = { login: "owner", password: "secret" };

export function nextAction(refusal: Answer<"counterparty_log_in_with_contact", 401>): string {
  return refusal.error.next_action;
}

export function firstError(refusal: Answer<"create_branch", 422>): string | undefined {
  // A write under an idempotency key is also refused by name, without fields.
  const errors: Record<string, string[]> = refusal.errors ?? {};
  return Object.values(errors)[0]?.[0];
}

export function message(refusal: Answer<"show_department", 404>): string {
  return refusal.message;
}

export function paid(event: Json<NonNullable<webhooks["order.paid"]["post"]["requestBody"]>>): [number, string] {
  return [event.data.order_id, event.data.amount];
}

type Query = NonNullable<paths["/api/counterparty/products"]["get"]["parameters"]["query"]>;
export const query: Query = { query: "mug", per_page: 10 };
// @ts-expect-error The name of a parameter that does not exist is refused: the types are not `any`.
export const misspelt: Query = { qeury: "mug" };
