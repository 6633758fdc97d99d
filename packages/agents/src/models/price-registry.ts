// The registry of prices, as far as it is asked. `price-registry.isolate.ts` stands for it in an isolate.

export { calcPrice, findProvider } from "@pydantic/genai-prices";
