\set inventory random(:first, :last)
\set customer :client_id + 1
WITH taken AS (
    UPDATE inventories SET updated_at = LOCALTIMESTAMP, reserved = reserved + 1
    WHERE id = :inventory AND project_id = :project AND quantity - reserved >= 1
    RETURNING id, project_id, nomenclature_id, warehouse_id, quantity, reserved, price
), placed AS (
    INSERT INTO orders (project_id, application_id, counterparty_id, status_id, original_price, product_discount,
        promo_discount, final_price, delivery_type_id, delivery_subtype_id, address, phone, version, created_at,
        updated_at)
    SELECT taken.project_id, CAST(:application AS BIGINT), CAST(:customer AS BIGINT), 1, taken.price, 0, 0,
        taken.price, 2, 2, 'Elbe Street 5', '7900' || lpad(CAST(:customer AS TEXT), 7, '0'), 1, LOCALTIMESTAMP,
        LOCALTIMESTAMP
    FROM taken
    RETURNING id
), held AS (
    INSERT INTO reservations (project_id, order_id, nomenclature_id, inventory_id, name, quantity, unit_price,
        product_discount, promo_discount, total, state, created_at, updated_at)
    SELECT taken.project_id, placed.id, taken.nomenclature_id, taken.id, 'Table Alster, walnut, natural, 100 cm', 1,
        taken.price, 0, 0, taken.price, 'held', LOCALTIMESTAMP, LOCALTIMESTAMP
    FROM taken CROSS JOIN placed
), moved AS (
    INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved,
        quantity_after, reserved_after, reason, source, source_id, actor, actor_id, created_at)
    SELECT taken.project_id, taken.id, taken.nomenclature_id, taken.warehouse_id, 0, 1, taken.quantity,
        taken.reserved, 'reservation', 'order', placed.id, 'customer', CAST(:customer AS BIGINT), LOCALTIMESTAMP
    FROM taken CROSS JOIN placed
), entered AS (
    INSERT INTO order_events (project_id, order_id, actor, actor_id, event, status_id, changes, created_at)
    SELECT taken.project_id, placed.id, 'customer', CAST(:customer AS BIGINT), 'created', 1,
        '[{"field": "status_id", "old": null, "new": "1"}, {"field": "final_price", "old": null, "new": "'
        || round(taken.price / 100.0, 2) || '"}]',
        LOCALTIMESTAMP
    FROM taken CROSS JOIN placed
)
SELECT id FROM placed;
