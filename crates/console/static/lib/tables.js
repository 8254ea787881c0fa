// @ts-check
// Filters and sorts of the tables, by the names of the API description. Columns come from the answers themselves.
// A check compares this list with the description.
import { get } from './api.js';
import { t } from './i18n.js';
import { once } from './load.js';
import { can } from './session.js';

/** @typedef {{ value: string | number, label: string }} Option */
/**
 * @typedef {object} Filter
 * @property {string} name parameter of the API; a range has `_gt` and `_lt`
 * @property {'choice' | 'range' | 'flag' | 'dates'} kind
 * @property {() => Promise<Option[]>} [options]
 * @property {boolean} [single] `true` if the API takes one value of a choice
 * @property {string} [needs] permission to read the options
 */
/**
 * @typedef {object} Description
 * @property {string} path
 * @property {string} root key of the rows
 * @property {boolean} [search] `true` if it takes `query`
 * @property {Filter[]} filters
 * @property {string[]} sorts columns that can be sorted
 * @property {string[]} [hidden] columns that are not shown at first
 * @property {string[]} [columns] of a list whose answer has none
 * @property {string} [key] field with the number of a row, if not `id`
 */

/**
 * @param {string} path
 * @param {string} root
 * @param {string} [permission]
 * @returns {() => Promise<Option[]>}
 */
const named = (path, root, permission = 'view-dictionaries') => () => once(path, async () => {
  if (!can(permission)) return [];
  const answer = await get(/** @type {any} */ (path));
  return /** @type {{ id: number, name: string }[]} */ (/** @type {any} */ (answer)[root]).map(({ id, name }) => ({ value: id, label: name }));
});

/** Options with words of the API. @param {(word: string) => string} text @param {string[]} words @returns {() => Promise<Option[]>} */
export const worded = (text, words) => async () => words.map((value) => ({ value, label: text(value) }));

/** Options of dictionaries, loaded once per session. */
export const options = {
  orderStatuses: named('/api/order_statuses', 'orderStatuses'),
  taskStatuses: named('/api/task_statuses', 'taskStatuses'),
  categories: named('/api/categories', 'categories', 'view-categories'),
  brands: named('/api/brands', 'brands', 'view-brands'),
  kinds: named('/api/nomenclature_kinds', 'nomenclatureKinds'),
  types: named('/api/nomenclature_types', 'nomenclatureTypes'),
  vats: named('/api/vats', 'vats'),
  units: named('/api/storage_units', 'units'),
  countries: named('/api/countries', 'countries'),
  tags: named('/api/tags', 'tags', 'view-nomenclatures'),
  managers: named('/api/managers', 'managers', 'view-users'),
  responsible: named('/api/responsible_users', 'responsibleUsers', 'view-users'),
  applications: named('/api/applications', 'applications', 'view-applications'),
  shops: named('/api/shops', 'shops', 'view-shops'),
  blockTypes: named('/api/block_types', 'blockTypes'),
  fileTypes: named('/api/file_types', 'fileTypes'),
  branches: named('/api/branches', 'branches', 'view-branches'),
  pageTypes: named('/api/page_types', 'pageTypes'),
  parked: worded((word) => t(`parked.${word}`), ['above_consent', 'contradicting_answers', 'customer_limit', 'paid_today', 'work_failed']),
  subscriptionStatuses: worded((word) => t(`subscription.status.${word}`), ['active', 'charging', 'past_due', 'canceled']),
  deliveryStatuses: worded((word) => t(`delivery.${word}`), ['pending', 'delivered', 'failed']),
  agents: () => once('agents', async () => {
    if (!can('view-agents')) return [];
    const { agents } = await get('/api/agents', { per_page: 100 });
    return agents.map(({ id, name }) => ({ value: id, label: name }));
  }),
  callStates: worded((word) => t(`call.state.${word}`), ['proposed', 'approved', 'refused', 'expired', 'executed', 'failed', 'reported']),
  roles: named('/api/roles', 'roles', 'view-roles'),
  departments: named('/api/departments', 'departments', 'view-departments'),
  deliveryTypes: named('/api/delivery_types', 'deliveryTypes'),
  warehouses: () => once('warehouses', async () => {
    if (!can('view-warehouses')) return [];
    const { warehouses } = /** @type {any} */ (await get('/api/tables/warehouses', { per_page: 100 }));
    return warehouses.map((/** @type {any} */ row) => ({ value: row.id, label: row.name?.value ?? row.name }));
  }),
};

/** @type {Filter} */
const dates = { name: 'date', kind: 'dates' };

/** @type {Record<'orders' | 'items' | 'stock' | 'customers' | 'tasks' | 'agents' | 'categories'
  | 'branches' | 'deliveries' | 'webhookDeliveries' | 'warehouses' | 'files' | 'promotions'
  | 'discounts' | 'jobs' | 'pages' | 'shops' | 'subscriptions' | 'upcoming' | 'usages' | 'agentActions', Description>} */
export const tables = {
  orders: {
    path: '/api/tables/orders', root: 'orders', search: true, sorts: ['id', 'created_at'], hidden: ['manager'],
    filters: [
      { name: 'status_id', kind: 'choice', options: options.orderStatuses },
      { name: 'client_id', kind: 'choice', options: options.applications, needs: 'view-applications' },
      { name: 'price', kind: 'range' },
      dates,
    ],
  },
  items: {
    path: '/api/tables/nomenclatures', root: 'nomenclatures', search: true, sorts: ['id', 'name', 'price', 'created_at', 'updated_at'],
    hidden: ['id', 'created_at'],
    filters: [
      { name: 'category_id', kind: 'choice', options: options.categories, needs: 'view-categories' },
      { name: 'brand_id', kind: 'choice', options: options.brands, needs: 'view-brands' },
      { name: 'kind_id', kind: 'choice', options: options.kinds },
      { name: 'type_id', kind: 'choice', options: options.types },
      { name: 'price', kind: 'range' },
      dates,
    ],
  },
  stock: {
    path: '/api/tables/inventories', root: 'inventories', search: true,
    sorts: ['id', 'quantity', 'reserved', 'price', 'created_at', 'updated_at'], hidden: ['id', 'created_at'],
    filters: [
      { name: 'warehouse_id', kind: 'choice', options: options.warehouses, needs: 'view-warehouses' },
      { name: 'quantity', kind: 'range' },
      { name: 'reserved', kind: 'range' },
      { name: 'price', kind: 'range' },
      dates,
    ],
  },
  customers: {
    path: '/api/tables/counterparties', root: 'counterparties', search: true, sorts: ['id', 'name', 'created_at'],
    filters: [
      { name: 'is_company', kind: 'flag' },
      { name: 'manager_id', kind: 'choice', options: options.managers, needs: 'view-users' },
      dates,
    ],
  },
  tasks: {
    path: '/api/tables/tasks', root: 'tasks', search: true, sorts: ['id', 'title', 'deadline', 'created_at', 'updated_at'],
    hidden: ['id', 'author', 'closed_at', 'updated_at'],
    filters: [
      { name: 'status_id', kind: 'choice', options: options.taskStatuses },
      { name: 'responsible_id', kind: 'choice', options: options.responsible, needs: 'view-users' },
      dates,
    ],
  },
  agents: {
    path: '/api/tables/agents', root: 'agents', sorts: ['id', 'created_at'], hidden: ['id', 'updated_at'],
    filters: [{ name: 'is_banned', kind: 'flag' }, dates],
  },
  categories: {
    path: '/api/tables/categories', root: 'categories', search: true, sorts: ['id', 'code', 'name', 'created_at', 'updated_at'],
    filters: [dates],
  },
  branches: {
    path: '/api/tables/branches', root: 'branches', search: true, sorts: ['id', 'name', 'created_at', 'updated_at'],
    hidden: ['id', 'kpp', 'created_at', 'updated_at'], filters: [dates],
  },
  deliveries: {
    path: '/api/applications/{application}/webhooks/{webhook}/deliveries', root: 'deliveries', sorts: [], filters: [],
    columns: ['event', 'status', 'response_status', 'attempts', 'created_at', 'delivered_at', 'next_attempt_at', 'last_error', 'delivery_id'],
    hidden: ['delivered_at', 'delivery_id'],
  },
  webhookDeliveries: {
    path: '/api/webhook_deliveries', root: 'webhookDeliveries', sorts: ['id'],
    columns: ['id', 'event', 'status', 'webhook', 'response_status', 'attempts', 'created_at', 'delivered_at', 'next_attempt_at', 'last_error'],
    hidden: ['delivered_at'],
    filters: [{ name: 'status', kind: 'choice', options: options.deliveryStatuses }],
  },
  warehouses: {
    path: '/api/tables/warehouses', root: 'warehouses', sorts: ['id', 'name', 'created_at', 'updated_at'], hidden: ['id', 'created_at', 'updated_at'],
    filters: [{ name: 'branch_id', kind: 'choice', options: options.branches, needs: 'view-branches' }, dates],
  },
  discounts: {
    path: '/api/discounts', root: 'discounts', search: true, sorts: [], hidden: ['created_at'],
    columns: ['name', 'status', 'value', 'code', 'target', 'ends_at', 'used_count', 'used_amount', 'created_at'],
    filters: [{ name: 'has_code', kind: 'flag' }],
  },
  promotions: {
    path: '/api/promotions', root: 'promotions', sorts: [], filters: [],
    columns: ['name', 'starts_at', 'ends_at', 'discounts', 'nomenclatures', 'created_at'],
  },
  jobs: {
    path: '/api/jobs', root: 'jobs', sorts: [], filters: [],
    columns: ['id', 'kind', 'status', 'file_name', 'created', 'updated', 'errors_total', 'created_at'],
  },
  files: {
    path: '/api/files', root: 'files', search: true, sorts: ['id', 'size', 'created_at'], hidden: ['mime_type'],
    columns: ['id', 'name', 'mime_type', 'size', 'creator', 'order_id', 'created_at'],
    filters: [
      { name: 'file_type_id', kind: 'choice', options: options.fileTypes },
      { name: 'creator_id', kind: 'choice', options: options.responsible, needs: 'view-users' },
      dates,
    ],
  },
  pages: {
    path: '/api/tables/pages', root: 'pages', search: true, sorts: ['id', 'title', 'views_count', 'created_at', 'updated_at'],
    hidden: ['id', 'is_fallback', 'created_at'],
    filters: [{ name: 'page_type_id', kind: 'choice', options: options.pageTypes }, { name: 'is_active', kind: 'flag' }, dates],
  },
  shops: {
    path: '/api/tables/shops', root: 'shops', search: true, sorts: ['id', 'name', 'created_at', 'updated_at'], hidden: ['id', 'created_at', 'updated_at'],
    filters: [{ name: 'branch_id', kind: 'choice', options: options.branches, needs: 'view-branches' }, { name: 'is_active', kind: 'flag' }, dates],
  },
  subscriptions: {
    path: '/api/tables/subscriptions', root: 'subscriptions', sorts: ['id', 'next_charge_at', 'created_at'], hidden: ['application_is_active', 'created_at'],
    filters: [
      { name: 'status', kind: 'choice', options: options.subscriptionStatuses },
      { name: 'parked', kind: 'choice', options: options.parked },
      { name: 'application_id', kind: 'choice', options: options.applications, needs: 'view-applications' },
      dates,
    ],
  },
  upcoming: {
    path: '/api/subscriptions/upcoming', root: 'charges', sorts: [], filters: [], key: 'subscription_id',
    columns: ['charge_at', 'counterparty', 'nomenclature', 'amount', 'past_due'],
  },
  agentActions: {
    path: '/api/agent-actions', root: 'agentActions', sorts: [], key: 'publicId', hidden: ['channel', 'status_code', 'error_code', 'duration_ms', 'decided_at'],
    columns: ['operation', 'agent_id', 'state', 'class', 'proposed_at', 'expires_at', 'channel', 'decided_by', 'decided_at', 'status_code', 'error_code', 'duration_ms'],
    filters: [
      { name: 'state', kind: 'choice', single: true, options: options.callStates },
      { name: 'agent_id', kind: 'choice', single: true, options: options.agents, needs: 'view-agents' },
      { name: 'needs_approval', kind: 'flag' },
    ],
  },
  usages: {
    path: '/api/discounts/{id}/usages', root: 'usages', sorts: [], filters: [], key: 'order_id',
    columns: ['order_id', 'final_price', 'discount_amount', 'created_at'],
  },
};
