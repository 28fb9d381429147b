print("wifictl")
