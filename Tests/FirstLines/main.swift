import WifiDiscovery

let discovery = try RouterDiscovery()
for try await router in discovery.routers(for: .seconds(3)) { print(router.name, router.mac, router.grade) }

let manager = try RouterManager(trust: .company(root: "company-root.pem"))
let router = try await manager.connect()  // finds, grades, verifies, opens the session
print(try await router.get("wifi.ssid"))
for await change in router.changes(of: "clients") { print(change) }
try await manager.switch(to: "02:00:5e:00:53:02")
