extension DissectorScript {
    /// Discovery datagrams, and the registration of both protocols.
    static let discovery = #"""
        local d = {
            kind = ProtoField.string("wifidisc.kind", "Kind"),
            msgid = ProtoField.uint32("wifidisc.msgid", "Message id"),
            version = ProtoField.uint16("wifidisc.version", "Version"),
            length = ProtoField.uint32("wifidisc.len", "Body length"),
            mac = ProtoField.string("wifidisc.mac", "Router"),
            nonce = ProtoField.string("wifidisc.nonce", "Nonce"),
            body = ProtoField.bytes("wifidisc.body", "Body"),
            reply_in = ProtoField.framenum("wifidisc.reply_in", "Reply in", base.NONE, frametype.RESPONSE),
            reply_to = ProtoField.framenum("wifidisc.reply_to", "Reply to the probe in", base.NONE, frametype.REQUEST),
        }
        discovery.fields = { d.kind, d.msgid, d.version, d.length, d.mac, d.nonce, d.body, d.reply_in, d.reply_to }

        local bad_datagram = ProtoExpert.new(
            "wifidisc.invalid", "Datagram that receivers drop", expert.group.MALFORMED, expert.severity.ERROR)
        local unasked = ProtoExpert.new(
            "wifidisc.unasked", "Reply to a probe that wasn't seen", expert.group.SEQUENCE, expert.severity.NOTE)
        discovery.experts = { bad_datagram, unasked }

        local KINDS = { probe = true, reply = true, announce = true, bye = true }
        -- Probes by id and nonce, and all by the packet that they're shown in.
        local probes, by_packet

        function discovery.init()
            probes, by_packet = {}, {}
        end

        local function learn_datagram(kind, key, pinfo)
            if kind == "probe" then
                local probe = by_packet[pinfo.number] or { number = pinfo.number, replies = {} }
                probes[key] = probe
                by_packet[pinfo.number] = probe
            elseif kind == "reply" and probes[key] and not by_packet[pinfo.number] then
                by_packet[pinfo.number] = probes[key]
                table.insert(probes[key].replies, pinfo.number)
            end
        end

        local function show_datagram(tvb, pinfo, item)
            local msgid, version, length = tvb(0, 4):uint(), tvb(4, 2):uint(), tvb(6, 4):uint()
            item:add(d.msgid, tvb(0, 4))
            item:add(d.version, tvb(4, 2))
            item:add(d.length, tvb(6, 4))
            if length ~= tvb:len() - HEADER then
                item:add_proto_expert_info(bad_datagram, length .. " bytes are declared, " .. tvb:len() - HEADER .. " are there")
                return "invalid"
            end
            local text = length > 0 and tvb(HEADER, length):raw() or ""
            local kind = text:match('^%s*{%s*"(%a+)"%s*:')
            if not KINDS[kind] or version == 0 then
                if length > 0 then show_body(d.body, tvb(HEADER, length), pinfo, item) end
                item:add_proto_expert_info(bad_datagram, "Neither probe nor reply, announcement or farewell")
                return "invalid"
            end
            item:add(d.kind, tvb(HEADER, length), kind):set_generated()
            local mac, nonce = text:match('"mac"%s*:%s*"([^"]*)"'), text:match('"nonce"%s*:%s*"([^"]*)"')
            if mac then item:add(d.mac, tvb(HEADER, length), mac):set_generated() end
            if nonce then item:add(d.nonce, tvb(HEADER, length), nonce):set_generated() end
            if not pinfo.visited then learn_datagram(kind, msgid .. ":" .. (nonce or ""), pinfo) end
            local probe = by_packet[pinfo.number]
            if kind == "probe" and probe then
                for _, number in ipairs(probe.replies) do item:add(d.reply_in, number):set_generated() end
            elseif kind == "reply" then
                if probe then
                    item:add(d.reply_to, probe.number):set_generated()
                else
                    item:add_proto_expert_info(unasked)
                end
            end
            show_body(d.body, tvb(HEADER, length), pinfo, item)
            return kind .. " " .. msgid .. (mac and " " .. mac or "")
        end

        function discovery.dissector(tvb, pinfo, tree)
            local item = tree:add(discovery, tvb())
            local title = "invalid"
            if tvb:len() < HEADER then
                item:add_proto_expert_info(bad_datagram, "Shorter than a header")
            else
                title = show_datagram(tvb, pinfo, item)
            end
            item:append_text(": " .. title)
            pinfo.cols.protocol = "DISCOVERY"
            pinfo.cols.info = title
            return tvb:len()
        end

        -- The ports may be changed while Wireshark runs.
        local function registered(proto, table_name)
            local current
            return function()
                local ports = DissectorTable.get(table_name)
                if current == proto.prefs.ports then return end
                if current then ports:remove(current, proto) end
                current = proto.prefs.ports
                ports:add(current, proto)
            end
        end

        local register_frames = registered(frames, "tcp.port")
        local register_discovery = registered(discovery, "udp.port")
        frames.prefs_changed = register_frames
        discovery.prefs_changed = register_discovery
        register_frames()
        register_discovery()
        """#
}
