// @ts-check
// Every screen of the console: its address, permission, texts and place in the navigation.

/**
 * @typedef {object} Screen
 * @property {string} path pattern of the address
 * @property {() => Promise<{ default: any }>} load
 * @property {string} title key of the text
 * @property {string | null} permission without it the screen does not exist for the role
 * @property {string[]} texts dictionaries it needs beside `shell`
 * @property {string} [icon] shown in the navigation with this icon
 * @property {string} [keys] keys that open it
 * @property {string} [section] title of the group in the navigation
 */

/** @type {Screen[]} */
export const screens = [
  { path: '/', title: 'nav.today', icon: 'today', keys: 'g t', section: 'section.work', permission: null, texts: [], load: () => import('../screens/today.js') },
  { path: '/reports', title: 'nav.reports', icon: 'chart', keys: 'g v', section: 'section.work', permission: 'view-statistics', texts: ['sales'], load: () => import('../screens/reports.js') },
  { path: '/tasks', title: 'nav.tasks', icon: 'tasks', keys: 'g w', section: 'section.work', permission: 'view-tasks', texts: [], load: () => import('../screens/tasks.js') },
  { path: '/tasks/:id', title: 'nav.task', permission: 'view-tasks', texts: [], load: () => import('../screens/task.js') },

  { path: '/orders', title: 'nav.orders', icon: 'orders', keys: 'g o', section: 'section.sales', permission: 'view-orders', texts: ['orders'], load: () => import('../screens/orders.js') },
  { path: '/orders/new', title: 'nav.orderNew', permission: 'create-orders', texts: ['orders'], load: () => import('../screens/order-new.js') },
  { path: '/orders/print', title: 'nav.packing', permission: 'view-orders', texts: ['orders'], load: () => import('../screens/order-print.js') },
  { path: '/orders/:id', title: 'nav.order', permission: 'view-orders', texts: ['orders'], load: () => import('../screens/order.js') },
  { path: '/customers', title: 'nav.customers', icon: 'customers', keys: 'g c', section: 'section.sales', permission: 'view-counterparties', texts: ['customers'], load: () => import('../screens/customers.js') },
  { path: '/customers/:id', title: 'nav.customer', permission: 'view-counterparties', texts: ['customers', 'orders'], load: () => import('../screens/customer.js') },
  { path: '/subscriptions', title: 'nav.subscriptions', icon: 'refresh', keys: 'g u', section: 'section.sales', permission: 'view-subscriptions', texts: ['sales'], load: () => import('../screens/subscriptions.js') },
  { path: '/subscriptions/:id', title: 'nav.subscription', permission: 'view-subscriptions', texts: ['sales'], load: () => import('../screens/subscription.js') },
  { path: '/plans', title: 'nav.plans', icon: 'box', section: 'section.sales', permission: 'view-applications', texts: ['sales'], load: () => import('../screens/plans.js') },
  { path: '/discounts', title: 'nav.discounts', icon: 'money', keys: 'g d', section: 'section.sales', permission: 'view-discounts', texts: ['sales'], load: () => import('../screens/discounts.js') },
  { path: '/discounts/:id', title: 'nav.discount', permission: 'view-discounts', texts: ['sales'], load: () => import('../screens/discounts.js') },
  { path: '/promotions', title: 'nav.promotions', icon: 'views', section: 'section.sales', permission: 'view-discounts', texts: ['sales'], load: () => import('../screens/promotions.js') },
  { path: '/promotions/:id', title: 'nav.promotion', permission: 'view-discounts', texts: ['sales'], load: () => import('../screens/promotions.js') },

  { path: '/items', title: 'nav.items', icon: 'catalogue', keys: 'g i', section: 'section.goods', permission: 'view-nomenclatures', texts: ['goods'], load: () => import('../screens/items.js') },
  { path: '/items/:id', title: 'nav.item', permission: 'view-nomenclatures', texts: ['goods'], load: () => import('../screens/item.js') },
  { path: '/categories', title: 'nav.categories', icon: 'tree', section: 'section.goods', permission: 'view-categories', texts: ['goods'], load: () => import('../screens/categories.js') },
  { path: '/brands', title: 'nav.brands', icon: 'brand', section: 'section.goods', permission: 'view-brands', texts: ['goods'], load: () => import('../screens/brands.js') },
  { path: '/stock', title: 'nav.stock', icon: 'stock', keys: 'g s', section: 'section.goods', permission: 'view-inventories', texts: ['goods'], load: () => import('../screens/stock.js') },
  { path: '/stock/correct', title: 'nav.correct', keys: 'g k', permission: 'edit-inventories', texts: ['goods'], load: () => import('../screens/stock-correct.js') },
  { path: '/stock/:id', title: 'nav.stockItem', permission: 'view-inventories', texts: ['goods'], load: () => import('../screens/stock-item.js') },
  { path: '/import/items', title: 'nav.importItems', icon: 'file', section: 'section.goods', permission: 'edit-nomenclatures', texts: ['goods'], load: () => import('../screens/import.js') },
  { path: '/import/stock', title: 'nav.importStock', icon: 'file', section: 'section.goods', permission: 'edit-inventories', texts: ['goods'], load: () => import('../screens/import.js') },

  { path: '/pages', title: 'nav.pages', icon: 'edit', keys: 'g p', section: 'section.content', permission: 'view-pages', texts: ['content'], load: () => import('../screens/pages.js') },
  { path: '/pages/:id', title: 'nav.page', permission: 'view-pages', texts: ['content'], load: () => import('../screens/pages.js') },
  { path: '/blocks', title: 'nav.blocks', icon: 'columns', section: 'section.content', permission: 'view-blocks', texts: ['content'], load: () => import('../screens/content-trees.js') },
  { path: '/menus', title: 'nav.menus', icon: 'menu', section: 'section.content', permission: 'view-applications', texts: ['content'], load: () => import('../screens/content-trees.js') },
  { path: '/slides', title: 'nav.slides', icon: 'image', section: 'section.content', permission: 'view-slides', texts: ['content'], load: () => import('../screens/slides.js') },
  { path: '/files', title: 'nav.files', icon: 'file', section: 'section.content', permission: 'view-files', texts: ['content'], load: () => import('../screens/files.js') },
  { path: '/shops', title: 'nav.shops', icon: 'clock', section: 'section.content', permission: 'view-shops', texts: ['content'], load: () => import('../screens/shops.js') },
  { path: '/shops/:id', title: 'nav.shop', permission: 'view-shops', texts: ['content'], load: () => import('../screens/shops.js') },

  { path: '/approvals', title: 'nav.approvals', icon: 'approvals', keys: 'g a', section: 'section.access', permission: 'view-agents', texts: ['access'], load: () => import('../screens/approvals.js') },
  { path: '/approvals/:id', title: 'nav.approval', permission: 'view-agents', texts: ['access'], load: () => import('../screens/approval.js') },
  { path: '/agents', title: 'nav.agents', icon: 'agents', keys: 'g b', section: 'section.access', permission: 'view-agents', texts: ['access'], load: () => import('../screens/agents.js') },
  { path: '/agents/:id', title: 'nav.agent', permission: 'view-agents', texts: ['access'], load: () => import('../screens/agent.js') },
  { path: '/agent-actions', title: 'nav.calls', icon: 'check', keys: 'g l', section: 'section.access', permission: 'view-agent-actions', texts: ['access', 'calls'], load: () => import('../screens/agent-actions.js') },
  { path: '/agent-actions/:id', title: 'nav.call', permission: 'view-agent-actions', texts: ['access', 'calls', 'orders'], load: () => import('../screens/agent-action.js') },
  { path: '/agent-policy', title: 'nav.agentPolicy', icon: 'key', section: 'section.access', permission: 'view-agent-actions', texts: ['access', 'calls'], load: () => import('../screens/agent-policy.js') },

  { path: '/project', title: 'nav.project', icon: 'settings', section: 'section.settings', permission: 'view-settings', texts: ['settings'], load: () => import('../screens/project.js') },
  { path: '/payment-types', title: 'nav.paymentTypes', icon: 'money', section: 'section.settings', permission: 'view-dictionaries', texts: ['settings'], load: () => import('../screens/payment-types.js') },
  { path: '/branches', title: 'nav.branches', icon: 'building', section: 'section.settings', permission: 'view-branches', texts: ['settings', 'customers'], load: () => import('../screens/branches.js') },
  { path: '/branches/:id', title: 'nav.branch', permission: 'view-branches', texts: ['settings', 'customers'], load: () => import('../screens/branches.js') },
  { path: '/branches/:id/accounts/:account', title: 'nav.account', permission: 'view-branches', texts: ['settings', 'customers'], load: () => import('../screens/branches.js') },
  { path: '/warehouses', title: 'nav.warehouses', icon: 'box', section: 'section.settings', permission: 'view-warehouses', texts: ['settings'], load: () => import('../screens/warehouses.js') },
  { path: '/warehouses/:id', title: 'nav.warehouse', permission: 'view-warehouses', texts: ['settings'], load: () => import('../screens/warehouses.js') },
  { path: '/applications', title: 'nav.applications', icon: 'key', section: 'section.settings', permission: 'view-applications', texts: ['settings'], load: () => import('../screens/applications.js') },
  { path: '/applications/:id', title: 'nav.application', permission: 'view-applications', texts: ['settings'], load: () => import('../screens/applications.js') },
  { path: '/webhooks', title: 'nav.webhooks', icon: 'link', section: 'section.settings', permission: 'view-webhooks', texts: ['settings'], load: () => import('../screens/webhooks.js') },
  { path: '/deliveries', title: 'nav.deliveries', permission: 'view-webhooks', texts: ['settings'], load: () => import('../screens/webhooks.js') },
  { path: '/webhooks/:application/:id', title: 'nav.webhook', permission: 'view-webhooks', texts: ['settings'], load: () => import('../screens/webhooks.js') },
  { path: '/employees', title: 'nav.employees', icon: 'user', keys: 'g e', section: 'section.settings', permission: 'view-users', texts: ['settings', 'customers'], load: () => import('../screens/employees.js') },
  { path: '/employees/:id', title: 'nav.employee', permission: 'view-users', texts: ['settings', 'customers'], load: () => import('../screens/employees.js') },
  { path: '/departments', title: 'nav.departments', icon: 'tree', section: 'section.settings', permission: 'view-departments', texts: ['settings'], load: () => import('../screens/departments.js') },
  { path: '/roles', title: 'nav.roles', icon: 'columns', keys: 'g r', section: 'section.settings', permission: 'view-roles', texts: ['settings', 'access'], load: () => import('../screens/roles.js') },
];

const patterns = screens.map((screen) => ({ screen, parts: screen.path.split('/') }));

/** Returns the screen of an address without a query, with its parameters: `/orders/:id` takes `/orders/12`. @param {string} path */
export function screenAt(path) {
  const given = path.split('/');
  const found = patterns.find(({ parts }) => parts.length === given.length && parts.every((part, index) => (part.startsWith(':') ? given[index] : part === given[index])));
  return found && {
    screen: found.screen,
    params: Object.fromEntries(found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), decodeURIComponent(given[index] ?? '')]] : []))),
  };
}

/**
 * Actions that the palette offers everywhere.
 * @type {{ id: string, title: string, icon: string, permission: string, to: string, keys?: string }[]}
 */
export const actions = [
  { id: 'order-new', title: 'do.orderNew', icon: 'plus', permission: 'create-orders', to: '/orders/new', keys: 'c o' },
  { id: 'stock-correct', title: 'do.correct', icon: 'edit', permission: 'edit-inventories', to: '/stock/correct' },
  { id: 'item-new', title: 'do.itemNew', icon: 'plus', permission: 'create-nomenclatures', to: '/items/new', keys: 'c i' },
  { id: 'customer-new', title: 'do.customerNew', icon: 'plus', permission: 'create-counterparties', to: '/customers/new', keys: 'c c' },
  { id: 'discount-new', title: 'do.discountNew', icon: 'plus', permission: 'create-discounts', to: '/discounts/new' },
  { id: 'page-new', title: 'do.pageNew', icon: 'plus', permission: 'create-pages', to: '/pages/new', keys: 'c p' },
  { id: 'task-new', title: 'do.taskNew', icon: 'plus', permission: 'create-tasks', to: '/tasks/new', keys: 'c t' },
  { id: 'agent-new', title: 'do.agentNew', icon: 'plus', permission: 'create-agents', to: '/agents/new' },
  { id: 'employee-new', title: 'do.employeeNew', icon: 'plus', permission: 'create-users', to: '/employees/new' },
  { id: 'branch-new', title: 'branch.new', icon: 'plus', permission: 'create-branches', to: '/branches/new' },
];
