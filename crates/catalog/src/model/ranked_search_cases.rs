// Queries and the names they find, best first. Storage adapters must give the same results: their tests include this
// table too. All names of a case are in one catalog, added in reverse order.
&[
    // Order: the name, names that begin with the query, exact words, parts of words.
    ("стол", &["Стол", "Стол письменный", "Столешница дубовая", "Письменный стол", "Ножка для стола", "Престол"]),
    ("table", &["Table", "Table lamp", "Tablecloth", "Coffee table", "Side tables", "Turntable"]),
    ("чехол", &["Чехол", "Чехол для дивана", "Защитный чехол", "Набор чехольчиков"]),
    ("case", &["Case", "Case for phone", "Phone case", "Bookcases"]),
    ("кабель usb", &["Кабель USB", "Кабель USB 2 метра", "Длинный кабель USB", "USB-кабель", "Кабельная стяжка и USB-хаб"]),
    ("usb cable", &["USB cable", "USB cable 2 m", "Long USB cable", "Cable USB", "USB-C cables"]),
    ("красный мяч", &["Красный мяч", "Большой красный мяч", "Мяч красный", "Красные мячи"]),
    ("red ball", &["Red ball", "Big red ball", "Ball, red", "Redwood balls"]),
    ("ёлка", &["Ёлка", "Ёлка 180 см", "Елка голубая", "Искусственная ёлка"]),
    ("чай", &["Чай", "Чай зелёный", "Чайник", "Зелёный чай", "Случай"]),
    ("лампа e27", &["Лампа E27", "Настольная лампа E27", "Лампы E27"]),
    ("болт м6", &["Болт М6", "Болт М6 оцинкованный", "Большой болт М6", "Болты М6", "Болт M6 латунный"]),
    ("роутер", &["Роутер", "Роутер TP-Link", "Роутеры и антенны", "Быстрый роутер"]),
    ("клавиатуры", &["Клавиатуры", "Клавиатуры и мыши", "Чехлы на клавиатуры", "Клавиатура"]),
    ("keyboards", &["Keyboards", "Keyboards and mice", "Covers for keyboards", "Keyboard"]),
    // Signs that distinguish names.
    ("C++", &["C++", "C++ для начинающих", "Язык C++ за неделю", "C# для начинающих"]),
    ("c#", &["C#", "C# для начинающих", "Учебник C#", "C++ за неделю"]),
    ("C", &["C", "C для начинающих", "C# для профи", "C++ за неделю", "Язык C", "Витамин D, витамин-C2"]),
    ("A+", &["A+", "A+ батарейка", "Класс A+", "Бумага A4"]),
    ("i+", &["I+ стельки", "Стельки I+", "Стельки I"]),
    // Punctuation that only separates words.
    ("wi-fi", &["Wi-Fi", "Wi-Fi роутер", "Роутер Wi-Fi", "Роутер WiFi"]),
    ("t-shirt", &["T-shirt", "T-shirt white", "White T-shirt", "Tshirt grey"]),
    ("120x60", &["120x60", "120x60 стол", "Стол 120x60", "Стол 120 x 60"]),
    ("3/4", &["3/4", "3/4 муфта", "Муфта 3/4", "Муфта 4, 3 шт."]),
    ("0.9", &["0.9", "0.9 л краска", "Краска 0.9", "Краска 0,9 л"]),
    // Other interpretations come last.
    ("cok", &["Cok", "Cok au vin", "Рецепт cok", "Сок томатный"]),
    ("m6", &["M6", "M6 bolt", "Bolt M6", "Болт М6"]),
    ("cat", &["Cat", "Cat bed", "Catalogue", "Black cat", "Concatenator"]),
    ("книга", &["Книга", "Книга рецептов", "Новая книга", "Книги"]),
    ("мышь", &["Мышь", "Мышь игровая", "Мышьяк", "Игровая мышь"]),
]
