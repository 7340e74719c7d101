// The OpenAPI document as an interactive page; without this script the page lists the operations.
const place = document.getElementById("api-docs");
SwaggerUIBundle({
  url: place.dataset.document,
  dom_id: "#api-docs",
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = place.dataset.csrf;
    return request;
  },
});
