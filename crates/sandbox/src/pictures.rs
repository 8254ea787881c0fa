//! Pictures of items, as an image host serves them: `GET /pictures/{name}.svg`, drawn from the name.

use actix_web::{HttpResponse, web};

pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config.route("/pictures/{name}.svg", web::get().to(picture));
}

/// Draws a crate in a colour derived from the name, with the name on it.
async fn picture(name: web::Path<String>) -> HttpResponse {
    let hue = name.bytes().fold(7_u32, |hue, byte| (hue * 31 + u32::from(byte)) % 360);
    let label: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(16).collect();
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 300\" role=\"img\" aria-label=\"{label}\">\
         <rect width=\"400\" height=\"300\" fill=\"hsl({hue} 45% 92%)\"/>\
         <rect x=\"90\" y=\"70\" width=\"220\" height=\"160\" rx=\"8\" fill=\"hsl({hue} 50% 55%)\"/>\
         <path d=\"M90 120h220M90 180h220\" stroke=\"hsl({hue} 50% 40%)\" stroke-width=\"6\"/>\
         <text x=\"200\" y=\"160\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"24\" fill=\"#fff\">{label}</text>\
         </svg>"
    );
    HttpResponse::Ok().content_type("image/svg+xml").body(svg)
}
