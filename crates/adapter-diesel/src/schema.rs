//! Tables as both databases have them; columns in the order of the migrations.

diesel::table! {
    projects (id) {
        id -> BigInt,
        name -> Text,
        currency -> Text,
        created_at -> Timestamp,
        time_zone -> Text,
        language -> Text,
        if_match_required -> Bool,
        contact_max_pieces -> BigInt,
        contact_max_value -> BigInt,
        contact_hold_hours -> BigInt,
        charges_delivery -> Bool,
        version -> BigInt,
    }
}

diesel::table! {
    branches (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        inn -> Nullable<Text>,
        kpp -> Nullable<Text>,
        address -> Nullable<Text>,
        phone -> Nullable<Text>,
        email -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
        name_key -> Text,
        sort_key -> Nullable<Binary>,
    }
}

diesel::table! {
    applications (id) {
        id -> BigInt,
        project_id -> BigInt,
        branch_id -> BigInt,
        name -> Text,
        url -> Nullable<Text>,
        token_fingerprint -> Text,
        is_active -> Bool,
        wholesale -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        activated_at -> Nullable<Timestamp>,
        version -> BigInt,
        token_issued_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    shops (id) {
        id -> BigInt,
        project_id -> BigInt,
        branch_id -> BigInt,
        name -> Text,
        address -> Text,
        phone -> Nullable<Text>,
        photo -> Nullable<Text>,
        latitude -> Nullable<Text>,
        longitude -> Nullable<Text>,
        is_active -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        time_zone -> Nullable<Text>,
        name_key -> Text,
        sort_key -> Nullable<Binary>,
        deleted_at -> Nullable<Timestamp>,
        version -> BigInt,
    }
}

diesel::table! {
    files (id) {
        id -> BigInt,
        project_id -> BigInt,
        file_type_id -> BigInt,
        state -> Text,
        file_key -> Text,
        name -> Text,
        mime_type -> Text,
        width -> Nullable<Integer>,
        height -> Nullable<Integer>,
        size -> Nullable<BigInt>,
        sha256 -> Nullable<Text>,
        creator_id -> BigInt,
        created_at -> Timestamp,
        sweep_at -> Nullable<Timestamp>,
        lease_owner -> Nullable<Text>,
        leased_until -> Nullable<Timestamp>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
        order_id -> Nullable<BigInt>,
        name_key -> Nullable<Text>,
    }
}

diesel::table! {
    dictionary_items (dictionary, id) {
        dictionary -> Text,
        id -> BigInt,
        name -> Text,
        avatar -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    storage_units (id) {
        id -> BigInt,
        name -> Text,
        abbreviation -> Text,
    }
}

diesel::table! {
    countries (id) {
        id -> BigInt,
        name -> Text,
        photo -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    delivery_types (project_id, id) {
        project_id -> BigInt,
        id -> BigInt,
        name -> Text,
        price -> BigInt,
        is_active -> Bool,
    }
}

diesel::table! {
    delivery_subtypes (project_id, id) {
        project_id -> BigInt,
        id -> BigInt,
        delivery_type_id -> BigInt,
        name -> Text,
        price -> BigInt,
        is_active -> Bool,
    }
}

diesel::table! {
    delivery_subtype_params (id) {
        id -> BigInt,
        project_id -> BigInt,
        delivery_subtype_id -> BigInt,
        name -> Text,
        address -> Nullable<Text>,
        is_active -> Bool,
    }
}

diesel::table! {
    payment_types (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        description -> Nullable<Text>,
        photo -> Nullable<Text>,
        is_online -> Bool,
        version -> BigInt,
    }
}

diesel::table! {
    application_payment_types (application_id, payment_type_id) {
        project_id -> BigInt,
        application_id -> BigInt,
        payment_type_id -> BigInt,
    }
}

diesel::table! {
    screens (id) {
        id -> BigInt,
        name -> Text,
    }
}

diesel::table! {
    permissions (id) {
        id -> BigInt,
        screen_id -> BigInt,
        name -> Text,
        description -> Text,
        project_id -> Nullable<BigInt>,
        version -> BigInt,
    }
}

diesel::table! {
    roles (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        description -> Nullable<Text>,
        is_owner -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        kind -> Text,
        version -> BigInt,
    }
}

diesel::table! {
    role_permissions (role_id, permission_id) {
        project_id -> BigInt,
        role_id -> BigInt,
        permission_id -> BigInt,
    }
}

diesel::table! {
    users (id) {
        id -> BigInt,
        project_id -> BigInt,
        branch_id -> Nullable<BigInt>,
        role_id -> BigInt,
        creator_id -> Nullable<BigInt>,
        login -> Text,
        email -> Text,
        password_hash -> Text,
        first_name -> Text,
        last_name -> Text,
        middle_name -> Nullable<Text>,
        phone -> Nullable<Text>,
        is_banned -> Bool,
        is_sick -> Bool,
        active_seconds -> BigInt,
        last_activity_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        kind -> Text,
        deleted_at -> Nullable<Timestamp>,
        department_id -> Nullable<BigInt>,
        avatar_id -> Nullable<BigInt>,
        version -> BigInt,
    }
}

diesel::table! {
    counterparties (id) {
        id -> BigInt,
        project_id -> BigInt,
        is_company -> Bool,
        manager_id -> Nullable<BigInt>,
        name -> Nullable<Text>,
        inn -> Nullable<Text>,
        kpp -> Nullable<Text>,
        first_name -> Nullable<Text>,
        last_name -> Nullable<Text>,
        middle_name -> Nullable<Text>,
        birthday -> Nullable<Date>,
        address -> Nullable<Text>,
        phone_1 -> Nullable<Text>,
        phone_2 -> Nullable<Text>,
        email -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        handle -> Text,
        email_confirmed -> Bool,
        verified_at -> Nullable<Timestamp>,
        deleted_at -> Nullable<Timestamp>,
        avatar_id -> Nullable<BigInt>,
        search_text -> Nullable<Text>,
        sort_key -> Nullable<Binary>,
        version -> BigInt,
    }
}

diesel::table! {
    counterparty_contacts (id) {
        id -> BigInt,
        project_id -> BigInt,
        counterparty_id -> BigInt,
        kind -> Text,
        value -> Text,
        name -> Nullable<Text>,
        comment -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

diesel::table! {
    counterparty_bank_requisites (id) {
        id -> BigInt,
        project_id -> BigInt,
        counterparty_id -> BigInt,
        bik -> Text,
        bank_name -> Text,
        correspondent_account -> Nullable<Text>,
        account -> Text,
        comment -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

diesel::table! {
    login_contacts (project_id, contact) {
        project_id -> BigInt,
        contact -> Text,
        counterparty_id -> BigInt,
    }
}

diesel::table! {
    access_tokens (id) {
        id -> BigInt,
        guard -> Text,
        subject_id -> BigInt,
        project_id -> BigInt,
        application_id -> Nullable<BigInt>,
        device -> Nullable<Text>,
        fingerprint -> Text,
        created_at -> Timestamp,
        last_used_at -> Nullable<Timestamp>,
        expires_at -> Timestamp,
        name -> Nullable<Text>,
        abilities -> Nullable<Text>,
    }
}

diesel::table! {
    application_miniapps (application_id, provider) {
        project_id -> BigInt,
        application_id -> BigInt,
        provider -> Text,
        sealed_token -> Text,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    one_time_codes (project_id, contact) {
        project_id -> BigInt,
        contact -> Text,
        fingerprint -> Text,
        attempts_left -> Integer,
        expires_at -> Timestamp,
        consumed_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    introspection_clients (id) {
        id -> BigInt,
        client_id -> Text,
        project_id -> BigInt,
        application_id -> BigInt,
        audience -> Text,
        fingerprint -> Text,
        is_active -> Bool,
        created_at -> Timestamp,
        rotated_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    client_sessions (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        counterparty_id -> BigInt,
        token_id -> BigInt,
        status -> Text,
        started_at -> Timestamp,
        last_seen_at -> Timestamp,
        duration_micros -> BigInt,
        closed_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    categories (id) {
        id -> BigInt,
        project_id -> BigInt,
        parent_id -> Nullable<BigInt>,
        name -> Text,
        name_key -> Text,
        code -> BigInt,
        description -> Nullable<Text>,
        photo -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        sort_key -> Nullable<Binary>,
        version -> BigInt,
    }
}

diesel::table! {
    application_categories (application_id, category_id) {
        project_id -> BigInt,
        application_id -> BigInt,
        category_id -> BigInt,
        position -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    brands (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        name_key -> Text,
        photo -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        sort_key -> Nullable<Binary>,
        version -> BigInt,
    }
}

diesel::table! {
    application_brands (application_id, brand_id) {
        project_id -> BigInt,
        application_id -> BigInt,
        brand_id -> BigInt,
        priority -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    tags (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        photo -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    nomenclatures (id) {
        id -> BigInt,
        project_id -> BigInt,
        article -> Nullable<Text>,
        article_key -> Nullable<Text>,
        name -> Text,
        name_key -> Text,
        kind_id -> BigInt,
        category_id -> Nullable<BigInt>,
        brand_id -> Nullable<BigInt>,
        country_id -> Nullable<BigInt>,
        storage_unit_id -> Nullable<BigInt>,
        vat_id -> Nullable<BigInt>,
        price -> Nullable<BigInt>,
        description -> Nullable<Text>,
        characteristics -> Nullable<Text>,
        share_link -> Nullable<Text>,
        is_subscription -> Bool,
        billing_period_months -> Nullable<Integer>,
        wholesale -> Bool,
        pieces_per_pack -> Integer,
        quantity_pack -> Integer,
        views_count -> BigInt,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        type_id -> Nullable<BigInt>,
        search_text -> Nullable<Text>,
        article_search -> Nullable<Text>,
        sort_key -> Nullable<Binary>,
    }
}

diesel::table! {
    nomenclature_photos (nomenclature_id, position) {
        project_id -> BigInt,
        nomenclature_id -> BigInt,
        position -> Integer,
        url -> Text,
    }
}

diesel::table! {
    nomenclature_tags (nomenclature_id, tag_id) {
        project_id -> BigInt,
        nomenclature_id -> BigInt,
        tag_id -> BigInt,
    }
}

diesel::table! {
    warehouses (id) {
        id -> BigInt,
        project_id -> BigInt,
        branch_id -> BigInt,
        name -> Text,
        address -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        deleted_at -> Nullable<Timestamp>,
        sort_key -> Nullable<Binary>,
        version -> BigInt,
    }
}

diesel::table! {
    warehouse_applications (warehouse_id, application_id) {
        project_id -> BigInt,
        warehouse_id -> BigInt,
        application_id -> BigInt,
    }
}

diesel::table! {
    inventories (id) {
        id -> BigInt,
        project_id -> BigInt,
        warehouse_id -> BigInt,
        nomenclature_id -> BigInt,
        quantity -> BigInt,
        reserved -> BigInt,
        price -> Nullable<BigInt>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        deleted_at -> Nullable<Timestamp>,
        version -> BigInt,
    }
}

diesel::table! {
    stock_movements (id) {
        id -> BigInt,
        project_id -> BigInt,
        inventory_id -> BigInt,
        nomenclature_id -> BigInt,
        warehouse_id -> BigInt,
        quantity -> BigInt,
        reserved -> BigInt,
        quantity_after -> BigInt,
        reserved_after -> BigInt,
        price_before -> Nullable<BigInt>,
        price_after -> Nullable<BigInt>,
        reason -> Text,
        source -> Nullable<Text>,
        source_id -> Nullable<BigInt>,
        actor -> Text,
        actor_id -> Nullable<BigInt>,
        created_at -> Timestamp,
        comment -> Nullable<Text>,
    }
}

diesel::table! {
    storefront_offers (application_id, nomenclature_id) {
        project_id -> BigInt,
        application_id -> BigInt,
        nomenclature_id -> BigInt,
        category_id -> Nullable<BigInt>,
        brand_id -> Nullable<BigInt>,
        country_id -> Nullable<BigInt>,
        name_key -> Text,
        price -> BigInt,
        popularity -> BigInt,
        kind_id -> BigInt,
        name -> Text,
        article -> Nullable<Text>,
        wholesale -> Bool,
        pieces_per_pack -> Integer,
        quantity_pack -> Integer,
        photos -> Nullable<Text>,
        sort_key -> Nullable<Binary>,
    }
}

diesel::table! {
    discounts (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        code -> Nullable<Text>,
        kind -> Text,
        value -> BigInt,
        target -> Text,
        target_id -> Nullable<BigInt>,
        minimum_sum -> BigInt,
        starts_at -> Nullable<Timestamp>,
        ends_at -> Nullable<Timestamp>,
        usage_limit -> Nullable<BigInt>,
        customer_limit -> Nullable<BigInt>,
        used_count -> BigInt,
        status -> Text,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        name_key -> Text,
        description -> Nullable<Text>,
        used_amount -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    promotions (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        description -> Nullable<Text>,
        photo -> Nullable<Text>,
        starts_at -> Nullable<Timestamp>,
        ends_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

diesel::table! {
    promotion_discounts (promotion_id, discount_id) {
        project_id -> BigInt,
        promotion_id -> BigInt,
        discount_id -> BigInt,
        position -> BigInt,
    }
}

diesel::table! {
    promotion_nomenclatures (promotion_id, nomenclature_id) {
        project_id -> BigInt,
        promotion_id -> BigInt,
        nomenclature_id -> BigInt,
        position -> BigInt,
    }
}

diesel::table! {
    orders (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> Nullable<BigInt>,
        counterparty_id -> BigInt,
        manager_id -> Nullable<BigInt>,
        status_id -> BigInt,
        original_price -> BigInt,
        product_discount -> BigInt,
        promo_discount -> BigInt,
        final_price -> BigInt,
        discount_id -> Nullable<BigInt>,
        promo_code -> Nullable<Text>,
        delivery_type_id -> BigInt,
        delivery_subtype_id -> Nullable<BigInt>,
        delivery_subtype_param_id -> Nullable<BigInt>,
        shop_id -> Nullable<BigInt>,
        address -> Nullable<Text>,
        phone -> Nullable<Text>,
        payment_type_id -> Nullable<BigInt>,
        payment_method_type -> Nullable<Text>,
        payment_link -> Nullable<Text>,
        comment -> Nullable<Text>,
        reserved_until -> Nullable<Timestamp>,
        delivery_price -> BigInt,
        delivery_vat_code -> Nullable<Integer>,
        paid_at -> Nullable<Timestamp>,
        captured -> BigInt,
        refunded -> BigInt,
        refunding -> BigInt,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    reservations (id) {
        id -> BigInt,
        project_id -> BigInt,
        order_id -> BigInt,
        nomenclature_id -> BigInt,
        inventory_id -> Nullable<BigInt>,
        name -> Text,
        quantity -> BigInt,
        unit_price -> BigInt,
        product_discount -> BigInt,
        promo_discount -> BigInt,
        total -> BigInt,
        refunded_quantity -> BigInt,
        refunded_amount -> BigInt,
        vat_code -> Nullable<Integer>,
        is_ticket -> Bool,
        state -> Text,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    order_tickets (order_id) {
        order_id -> BigInt,
        project_id -> BigInt,
        reference -> Nullable<Text>,
        total -> BigInt,
        redeemed -> BigInt,
        last_redeemed_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    ticket_scans (id) {
        id -> BigInt,
        project_id -> BigInt,
        order_id -> Nullable<BigInt>,
        scan_id -> Text,
        token_fingerprint -> Text,
        quantity -> BigInt,
        shop_id -> Nullable<BigInt>,
        is_dated -> Bool,
        scanned_at -> Timestamp,
        user_id -> BigInt,
        outcome -> Text,
        redeemed_count -> BigInt,
        total_tickets -> BigInt,
        earlier_at -> Nullable<Timestamp>,
        earlier_shop_id -> Nullable<BigInt>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    order_refunds (id) {
        id -> BigInt,
        project_id -> BigInt,
        order_id -> BigInt,
        refund_id -> Nullable<BigInt>,
        state -> Text,
        amount -> BigInt,
        reason -> Text,
        restock -> Bool,
        actor -> Text,
        actor_id -> Nullable<BigInt>,
        created_at -> Timestamp,
        settled_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    order_refund_lines (order_refund_id, reservation_id) {
        project_id -> BigInt,
        order_refund_id -> BigInt,
        reservation_id -> BigInt,
        quantity -> BigInt,
        amount -> BigInt,
    }
}

diesel::table! {
    discount_usages (order_id) {
        order_id -> BigInt,
        project_id -> BigInt,
        discount_id -> BigInt,
        counterparty_id -> BigInt,
        created_at -> Timestamp,
    }
}

diesel::table! {
    charges (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> Nullable<BigInt>,
        counterparty_id -> BigInt,
        purpose -> Text,
        purpose_id -> BigInt,
        idempotence_key -> Text,
        state -> Text,
        provider_payment_id -> Nullable<Text>,
        amount -> BigInt,
        captured -> BigInt,
        refunded -> BigInt,
        refunding -> BigInt,
        request -> Text,
        saved_method_id -> Nullable<BigInt>,
        confirmation_url -> Nullable<Text>,
        reason -> Nullable<Text>,
        checks -> Integer,
        asked_at -> Timestamp,
        next_check_at -> Nullable<Timestamp>,
        leased_until -> Nullable<Timestamp>,
        lease_owner -> Nullable<Text>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
        settled_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        departing_until -> Nullable<Timestamp>,
        contradiction -> Nullable<Text>,
        concern_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    refunds (id) {
        id -> BigInt,
        project_id -> BigInt,
        charge_id -> BigInt,
        state -> Text,
        amount -> BigInt,
        description -> Text,
        receipt -> Nullable<Text>,
        request_key -> Text,
        idempotence_key -> Text,
        key_made_at -> Timestamp,
        asked_at -> Timestamp,
        tries -> Integer,
        provider_refund_id -> Nullable<Text>,
        reason -> Nullable<Text>,
        checks -> Integer,
        next_check_at -> Nullable<Timestamp>,
        leased_until -> Nullable<Timestamp>,
        lease_owner -> Nullable<Text>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
        settled_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    receipt_settings (project_id) {
        project_id -> BigInt,
        tax_system_code -> Nullable<Integer>,
        default_vat_code -> Integer,
    }
}

diesel::table! {
    receipts (id) {
        id -> BigInt,
        project_id -> BigInt,
        charge_id -> BigInt,
        refund_id -> Nullable<BigInt>,
        kind -> Text,
        state -> Text,
        body -> Nullable<Text>,
        idempotence_key -> Nullable<Text>,
        key_made_at -> Timestamp,
        asked_at -> Timestamp,
        tries -> Integer,
        provider_receipt_id -> Nullable<Text>,
        reason -> Nullable<Text>,
        checks -> Integer,
        next_check_at -> Nullable<Timestamp>,
        leased_until -> Nullable<Timestamp>,
        lease_owner -> Nullable<Text>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
        concern_at -> Nullable<Timestamp>,
        settled_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    saved_payment_methods (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        counterparty_id -> BigInt,
        charge_id -> BigInt,
        provider_method_id -> Text,
        method -> Text,
        card_type -> Nullable<Text>,
        card_last_4 -> Nullable<Text>,
        title -> Nullable<Text>,
        is_active -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    verifications (id) {
        id -> BigInt,
        project_id -> BigInt,
        counterparty_id -> BigInt,
        expires_at -> Timestamp,
        created_at -> Timestamp,
    }
}

diesel::table! {
    order_events (id) {
        id -> BigInt,
        project_id -> BigInt,
        order_id -> BigInt,
        actor -> Text,
        actor_id -> Nullable<BigInt>,
        event -> Text,
        status_id -> BigInt,
        detail -> Nullable<Text>,
        changes -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    outbox_events (id) {
        id -> BigInt,
        event_id -> Text,
        project_id -> BigInt,
        application_id -> BigInt,
        topic -> Text,
        payload -> Text,
        created_at -> Timestamp,
        dispatched_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    webhooks (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        name -> Nullable<Text>,
        url -> Text,
        sealed_secret -> Text,
        is_active -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        hangs -> Integer,
        paused_until -> Nullable<Timestamp>,
        version -> BigInt,
    }
}

diesel::table! {
    webhook_deliveries (id) {
        id -> BigInt,
        delivery_id -> Text,
        project_id -> BigInt,
        webhook_id -> BigInt,
        outbox_event_id -> BigInt,
        status -> Text,
        attempts -> Integer,
        next_attempt_at -> Nullable<Timestamp>,
        leased_until -> Nullable<Timestamp>,
        lease_owner -> Nullable<Text>,
        response_status -> Nullable<Integer>,
        last_error -> Nullable<Text>,
        delivered_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
    }
}

diesel::table! {
    sign_in_addresses (fingerprint) {
        fingerprint -> Text,
        seen_at -> Timestamp,
    }
}

diesel::table! {
    workers (name) {
        name -> Text,
        seen_at -> Timestamp,
    }
}

diesel::table! {
    agent_actions (id) {
        id -> BigInt,
        public_id -> Text,
        project_id -> BigInt,
        agent_id -> BigInt,
        token_id -> BigInt,
        channel -> Text,
        operation -> Text,
        target -> Text,
        body -> Nullable<Text>,
        sent_key -> Nullable<Text>,
        if_match -> Nullable<Text>,
        preview_hash -> Nullable<Text>,
        class -> Text,
        arguments_hash -> Text,
        policy_version -> BigInt,
        needs_approval -> Bool,
        state -> Text,
        decided_by -> Nullable<BigInt>,
        decided_at -> Nullable<Timestamp>,
        reason -> Nullable<Text>,
        proposed_at -> Timestamp,
        expires_at -> Timestamp,
        keep_until -> Timestamp,
        started_at -> Nullable<Timestamp>,
        leased_until -> Nullable<Timestamp>,
        attempts -> Integer,
        is_counted -> Bool,
        finished_at -> Nullable<Timestamp>,
        status_code -> Nullable<Integer>,
        error_code -> Nullable<Text>,
        result -> Nullable<Text>,
        reported_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    agent_policies (project_id) {
        project_id -> BigInt,
        version -> BigInt,
        refuses_writes -> Bool,
        approvals_per_hour -> BigInt,
        retention_days -> BigInt,
        rules -> Text,
        updated_by -> BigInt,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    agent_usage (agent_id, day_end) {
        project_id -> BigInt,
        agent_id -> BigInt,
        day_end -> Timestamp,
        calls -> BigInt,
        money -> BigInt,
    }
}

diesel::table! {
    agent_access_requests (id) {
        id -> BigInt,
        public_id -> Text,
        secret_fingerprint -> Text,
        project_id -> Nullable<BigInt>,
        name -> Text,
        reason -> Text,
        requested -> Text,
        permissions -> Text,
        status -> Text,
        reviewer_id -> Nullable<BigInt>,
        agent_id -> Nullable<BigInt>,
        decline_reason -> Nullable<Text>,
        created_at -> Timestamp,
        expires_at -> Timestamp,
        decided_at -> Nullable<Timestamp>,
        consumed_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    departments (id) {
        id -> BigInt,
        project_id -> BigInt,
        branch_id -> Nullable<BigInt>,
        name -> Text,
        description -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

diesel::table! {
    temporary_passwords (user_id) {
        project_id -> BigInt,
        user_id -> BigInt,
        password_hash -> Text,
        created_at -> Timestamp,
        expires_at -> Timestamp,
    }
}

diesel::table! {
    password_requests (login) {
        login -> Text,
        requested_at -> Timestamp,
        attempts -> Integer,
        next_attempt_at -> Timestamp,
        lease_owner -> Nullable<Text>,
        leased_until -> Nullable<Timestamp>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
    }
}

diesel::table! {
    callback_attempts (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        phone -> Text,
        nonce_fingerprint -> Text,
        session_fingerprint -> Text,
        state -> Text,
        check_id -> Nullable<Text>,
        status_asked_at -> Nullable<Timestamp>,
        exchange_asked_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        expires_at -> Timestamp,
    }
}

diesel::table! {
    callback_phones (project_id, phone) {
        project_id -> BigInt,
        phone -> Text,
        attempt_id -> BigInt,
        held_until -> Timestamp,
    }
}

diesel::table! {
    phone_change_codes (counterparty_id) {
        counterparty_id -> BigInt,
        project_id -> BigInt,
        phone -> Text,
        fingerprint -> Text,
        attempts_left -> Integer,
        expires_at -> Timestamp,
        consumed_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    jobs (id) {
        id -> BigInt,
        project_id -> BigInt,
        kind -> Text,
        state -> Text,
        phase -> Text,
        dry_run -> Bool,
        partial -> Bool,
        file_place -> Nullable<Text>,
        file_name -> Nullable<Text>,
        file_bytes -> BigInt,
        total_rows -> Nullable<BigInt>,
        done_rows -> BigInt,
        checkpoint -> BigInt,
        created_count -> BigInt,
        updated_count -> BigInt,
        unchanged_count -> BigInt,
        skipped_count -> BigInt,
        problems_count -> BigInt,
        ignored_columns -> Text,
        failure -> Nullable<Text>,
        user_id -> Nullable<BigInt>,
        token_id -> Nullable<BigInt>,
        tries -> Integer,
        lapses -> BigInt,
        lease_owner -> Nullable<Text>,
        leased_until -> Nullable<Timestamp>,
        created_at -> Timestamp,
        started_at -> Nullable<Timestamp>,
        finished_at -> Nullable<Timestamp>,
        reading -> Nullable<Text>,
        layout -> Nullable<Text>,
        preview -> Nullable<Text>,
    }
}

diesel::table! {
    import_columns (project_id, kind) {
        project_id -> BigInt,
        kind -> Text,
        mapping -> Text,
    }
}

diesel::table! {
    exports (id) {
        id -> BigInt,
        project_id -> BigInt,
        kind -> Text,
        format -> Text,
        created_from -> Nullable<Date>,
        created_to -> Nullable<Date>,
        state -> Text,
        total_rows -> Nullable<BigInt>,
        done_rows -> BigInt,
        file_place -> Nullable<Text>,
        file_bytes -> BigInt,
        file_expires_at -> Nullable<Timestamp>,
        failure -> Nullable<Text>,
        user_id -> Nullable<BigInt>,
        token_id -> Nullable<BigInt>,
        tries -> Integer,
        lease_owner -> Nullable<Text>,
        leased_until -> Nullable<Timestamp>,
        parked_at -> Nullable<Timestamp>,
        parked_reason -> Nullable<Text>,
        created_at -> Timestamp,
        started_at -> Nullable<Timestamp>,
        finished_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    job_errors (id) {
        id -> BigInt,
        project_id -> BigInt,
        job_id -> BigInt,
        row_number -> BigInt,
        column_name -> Text,
        reason -> Text,
    }
}

diesel::table! {
    histories (id) {
        id -> BigInt,
        project_id -> BigInt,
        resource -> Text,
        resource_id -> BigInt,
        deed -> Text,
        user_id -> Nullable<BigInt>,
        counterparty_id -> Nullable<BigInt>,
        changes -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    favourites (id) {
        id -> BigInt,
        project_id -> BigInt,
        counterparty_id -> BigInt,
        nomenclature_id -> BigInt,
        created_at -> Timestamp,
    }
}

diesel::table! {
    search_requests (id) {
        id -> BigInt,
        project_id -> BigInt,
        counterparty_id -> BigInt,
        value -> Text,
        value_key -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    subscription_nomenclatures (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        nomenclature_id -> BigInt,
        plan_slug -> Text,
        position -> BigInt,
        is_active -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

diesel::table! {
    slides (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        title -> Text,
        description -> Nullable<Text>,
        photo -> Nullable<Text>,
        link -> Nullable<Text>,
        position -> BigInt,
        is_active -> Bool,
        starts_at -> Nullable<Timestamp>,
        ends_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        version -> BigInt,
    }
}

// One call per group of tables that are joined: the cost of the macro is quadratic.
diesel::table! {
    notifications (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        counterparty_id -> BigInt,
        order_id -> BigInt,
        code -> Text,
        amount -> BigInt,
        language -> Text,
        title -> Text,
        body -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    pages (id) {
        id -> BigInt,
        project_id -> BigInt,
        page_type_id -> Nullable<BigInt>,
        slug -> Text,
        title -> Text,
        sort_key -> Binary,
        description -> Nullable<Text>,
        preview -> Nullable<Text>,
        content -> Nullable<Text>,
        is_active -> Bool,
        is_fallback -> Bool,
        author_id -> Nullable<BigInt>,
        views_count -> BigInt,
        search_text -> Text,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    blocks (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        parent_id -> Nullable<BigInt>,
        code -> BigInt,
        slug -> Text,
        name -> Text,
        name_key -> Text,
        sort_key -> Binary,
        avatar -> Nullable<Text>,
        block_type_id -> BigInt,
        link -> Nullable<Text>,
        file -> Nullable<Text>,
        text -> Nullable<Text>,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    menu_items (id) {
        id -> BigInt,
        project_id -> BigInt,
        application_id -> BigInt,
        parent_id -> Nullable<BigInt>,
        code -> BigInt,
        slug -> Text,
        position -> BigInt,
        name -> Text,
        name_key -> Text,
        sort_key -> Binary,
        avatar -> Nullable<Text>,
        preview -> Nullable<Text>,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    tasks (id) {
        id -> BigInt,
        project_id -> BigInt,
        title -> Text,
        title_key -> Text,
        sort_key -> Binary,
        description -> Nullable<Text>,
        status_id -> BigInt,
        author_id -> Nullable<BigInt>,
        responsible_id -> Nullable<BigInt>,
        deadline -> Nullable<Timestamp>,
        order_id -> Nullable<BigInt>,
        counterparty_id -> Nullable<BigInt>,
        closed_at -> Nullable<Timestamp>,
        version -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::allow_tables_to_appear_in_same_query!(access_tokens, counterparties, applications, introspection_clients);
diesel::allow_tables_to_appear_in_same_query!(counterparties, dictionary_items, users);
diesel::allow_tables_to_appear_in_same_query!(files, counterparties);
diesel::allow_tables_to_appear_in_same_query!(files, dictionary_items);
diesel::allow_tables_to_appear_in_same_query!(files, users);
diesel::allow_tables_to_appear_in_same_query!(files, roles);
diesel::allow_tables_to_appear_in_same_query!(files, branches);
diesel::allow_tables_to_appear_in_same_query!(files, departments);
diesel::allow_tables_to_appear_in_same_query!(
    storefront_offers,
    nomenclatures,
    categories,
    brands,
    countries,
    storage_units,
    inventories,
    warehouses,
    warehouse_applications,
    nomenclature_tags,
    tags
);
diesel::allow_tables_to_appear_in_same_query!(application_categories, categories);
diesel::allow_tables_to_appear_in_same_query!(application_brands, brands);
diesel::allow_tables_to_appear_in_same_query!(orders, counterparties, reservations);
diesel::allow_tables_to_appear_in_same_query!(projects, receipt_settings);
diesel::allow_tables_to_appear_in_same_query!(charges, refunds, receipts, verifications, saved_payment_methods);
diesel::allow_tables_to_appear_in_same_query!(webhook_deliveries, webhooks, outbox_events);
diesel::allow_tables_to_appear_in_same_query!(warehouse_applications, applications);
diesel::allow_tables_to_appear_in_same_query!(warehouses, branches);
diesel::allow_tables_to_appear_in_same_query!(
    screens,
    permissions,
    role_permissions,
    roles,
    users,
    branches,
    departments,
    access_tokens
);
diesel::allow_tables_to_appear_in_same_query!(temporary_passwords, users);
diesel::allow_tables_to_appear_in_same_query!(discounts, categories);
diesel::allow_tables_to_appear_in_same_query!(discounts, nomenclatures);
diesel::allow_tables_to_appear_in_same_query!(discounts, promotion_discounts);
diesel::allow_tables_to_appear_in_same_query!(nomenclatures, promotion_nomenclatures);
diesel::allow_tables_to_appear_in_same_query!(nomenclatures, subscription_nomenclatures);
diesel::allow_tables_to_appear_in_same_query!(discount_usages, orders);

/// Joins a table by the id and the project of the record that a column refers to, and by one more condition.
macro_rules! referred {
    ($table:ident, $owner:ident::$column:ident $(, $also:expr)?) => {
        $table::table.on($table::id
            .nullable()
            .eq($owner::$column.nullable())
            .and($table::project_id.eq($owner::project_id))
            $(.and($also))?)
    };
}
pub(crate) use referred;

/// Selects the row with this id in this project.
macro_rules! keyed {
    ($table:ident, $id:expr, $project:expr) => {
        $table::table.find($id).filter($table::project_id.eq($project.get()))
    };
}
pub(crate) use keyed;
